"""Makes text valid for the protocol, and extracts text from trainers' forms of completions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def well_formed(text: str) -> str:
    """Replaces lone surrogates, which UTF-8 cannot encode, by U+FFFD; joins surrogate pairs."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def kind_of(value: object) -> str:
    """Returns what a value is, in the words of messages."""
    return next((words for kind, words in _KINDS if isinstance(value, kind)), "another value")


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (type(None), "nothing"),
    (bool, "true or false"),
    ((int, float), "a number"),
    (str, "text"),
    (bytes, "bytes"),
    (Mapping, "a mapping"),
    (Sequence, "a list"),
)


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
    raise TypeError(f"a completion is text or messages, not {kind_of(completion)}")


def _last_text(messages: list[object]) -> str:
    for message in reversed(messages):
        if not isinstance(message, Mapping):
            raise TypeError(f"a message has a role and content, and is not {kind_of(message)}")
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


def transcript(completion: object) -> str:
    """Returns a completion as text for people: of several messages, each with its role.

    Raises:
        TypeError: see `completion_text`.
    """
    if isinstance(completion, list) and len(completion) > 1:
        spoken = (message for message in completion if isinstance(message, Mapping))
        return "\n".join(f"[{role_of(one)}]\n{message_text(one)}" for one in spoken)
    return completion_text(completion)


def role_of(message: Mapping[str, object]) -> str:
    """Returns the role of a message; for a tool also its name."""
    role, name = message.get("role") or "", message.get("name")
    return f"{role} {name}" if role == "tool" and name else str(role)


def message_text(message: Mapping[str, object]) -> str:
    """Returns the text of a message and the tools that it calls, as people read them."""
    content = message.get("content")
    if isinstance(content, list):
        blocks = [one.get("text") if isinstance(one, Mapping) else one for one in content]
        content = "\n".join(str(block) for block in blocks if block is not None)
    calls = message.get("tool_calls")
    told = map(_call_text, calls) if isinstance(calls, list) else [str(calls or "")]
    return "\n".join(part for part in (str(content or ""), *told) if part)


def _call_text(call: object) -> str:
    """Returns name and arguments of a call; text of several lines stands in a fence."""
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return f"call: {call}"
    arguments = function.get("arguments")
    if not isinstance(arguments, Mapping):
        return f"call of {function.get('name')}: {arguments}"
    # Tables hold the arguments of all tools for each call; those of other tools are None.
    lines = [_argument_text(*one) for one in arguments.items() if one[1] is not None]
    return "\n".join([f"call of {function.get('name')}", *lines])


def _argument_text(name: object, value: object) -> str:
    text = str(value)
    return f"{name}:\n```\n{text}\n```" if "\n" in text else f"{name}: {text}"
