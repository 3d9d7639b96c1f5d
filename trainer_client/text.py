"""Makes text valid for the protocol, and extracts text from trainers' forms of completions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def well_formed(text: str) -> str:
    """Replaces lone surrogates, which UTF-8 cannot encode, by U+FFFD; joins surrogate pairs."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def completion_text(completion: object) -> str:
    """Extracts the text of a completion: a string, a message, or a list of messages.

    The last message of the assistant that has text counts. (A message with a tool call has no text,
    or an empty one.) Returns "" if there is no such message.

    Raises:
        TypeError: the completion has another type.
    """
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Mapping):
        return _content_text(completion.get("content")) or ""
    if isinstance(completion, Iterable):
        return _last_text(list(completion))
    raise TypeError(f"a completion is text or messages, not {type(completion).__name__}")


def _last_text(messages: list[object]) -> str:
    for message in reversed(messages):
        if not isinstance(message, Mapping):
            raise TypeError(f"a message is a mapping, not {type(message).__name__}")
        text = _content_text(message.get("content"))
        is_call = bool(message.get("tool_calls")) and not text
        if message.get("role", "assistant") == "assistant" and text is not None and not is_call:
            return text
    return ""


def _content_text(content: object) -> str | None:
    """Returns a message's text, or None if it has none; ignores blocks that are not text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return None
    texts = [block.get("text") for block in content if isinstance(block, Mapping)]
    found = [text for text in texts if isinstance(text, str)]
    return "".join(found) if found else None
