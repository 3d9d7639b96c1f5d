using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Text;

// csc OUTPUT.dll FILE...: compiles a console program against the runtime that it runs on, with the
// usings that new projects have of their own.
static class Csc
{
    const string Usings = "global using System; global using System.Collections.Generic; global using System.IO;"
        + "global using System.Linq; global using System.Threading; global using System.Threading.Tasks;";

    static int Main(string[] arguments)
    {
        if (arguments[0] == "-version")
        {
            Console.WriteLine(typeof(CSharpCompilation).Assembly.GetName().Version + " .NET " + Environment.Version);
            return 0;
        }
        var options = new CSharpParseOptions(LanguageVersion.Latest, DocumentationMode.None, SourceCodeKind.Regular, new[] { "DEBUG", "TRACE" });
        var trees = arguments.Skip(1).Select(name => Parse(File.ReadAllText(name), name, options)).Append(Parse(Usings, "Usings.cs", options));
        var compilation = CSharpCompilation.Create(Path.GetFileNameWithoutExtension(arguments[0]), trees, References(), Options());
        using (var output = File.Create(arguments[0]))
        {
            var result = compilation.Emit(output);
            foreach (var problem in result.Diagnostics.Where(one => one.Severity == DiagnosticSeverity.Error))
                Console.Error.WriteLine(problem);
            return result.Success ? 0 : 1;
        }
    }

    static SyntaxTree Parse(string text, string name, CSharpParseOptions options) =>
        CSharpSyntaxTree.ParseText(SourceText.From(text, Encoding.UTF8), options, name);

    static CSharpCompilationOptions Options() => new CSharpCompilationOptions(
        OutputKind.ConsoleApplication,
        optimizationLevel: OptimizationLevel.Release,
        allowUnsafe: true,
        nullableContextOptions: NullableContextOptions.Annotations,
        concurrentBuild: false);

    static IEnumerable<MetadataReference> References() =>
        Directory.GetFiles(Path.GetDirectoryName(typeof(object).Assembly.Location), "*.dll")
            .Where(name => !Path.GetFileName(name).StartsWith("Microsoft.") || name.EndsWith("CSharp.dll"))
            .Select(name => MetadataReference.CreateFromFile(name));
}
