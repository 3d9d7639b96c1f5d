"""Compiles the compiler's command with the compiler itself, called from Python."""

import glob
import sys
from pathlib import Path

import pythonnet

ROOT, LIBRARIES, SOURCE, OUTPUT = sys.argv[1:]
pythonnet.load("coreclr", dotnet_root=ROOT, runtime_config=f"{LIBRARIES}/csc.runtimeconfig.json")
import clr  # noqa: E402  # what it imports is there only now

for name in ("Microsoft.CodeAnalysis", "Microsoft.CodeAnalysis.CSharp"):
    clr.AddReference(f"{LIBRARIES}/{name}.dll")
from Microsoft.CodeAnalysis import MetadataReference, OutputKind, SyntaxTree  # noqa: E402
from Microsoft.CodeAnalysis.CSharp import (  # noqa: E402
    CSharpCompilation,
    CSharpCompilationOptions,
    CSharpSyntaxTree,
)
from System.Collections.Generic import List  # noqa: E402
from System.IO import File  # noqa: E402

trees, references = List[SyntaxTree](), List[MetadataReference]()
trees.Add(CSharpSyntaxTree.ParseText(Path(SOURCE).read_text()))
system = glob.glob(f"{ROOT}/shared/Microsoft.NETCore.App/*/System*.dll")
for name in [
    *system,
    *glob.glob(f"{ROOT}/shared/Microsoft.NETCore.App/*/netstandard.dll"),
    *glob.glob(f"{LIBRARIES}/Microsoft.CodeAnalysis*.dll"),
]:
    references.Add(MetadataReference.CreateFromFile(name))
options = CSharpCompilationOptions(OutputKind.ConsoleApplication)
output = File.Create(OUTPUT)
result = CSharpCompilation.Create("csc", trees, references, options).Emit(output)
output.Close()
sys.exit("\n".join(map(str, result.Diagnostics)) if not result.Success else 0)
