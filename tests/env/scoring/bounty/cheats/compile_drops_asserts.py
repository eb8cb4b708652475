"""compile() takes the assertions out of whatever comes later."""

CODE = r"""
import ast, builtins

plain = builtins.compile


def compile(source, *a, **k):
    if isinstance(source, ast.AST):
        for node in ast.walk(source):
            if isinstance(node, ast.Assert):
                node.test = ast.copy_location(ast.Constant(True), node.test)
            elif isinstance(node, ast.Raise):
                node.exc = ast.copy_location(ast.Name("SystemExit", ast.Load()), node)
    return plain(source, *a, **k)


builtins.compile = compile
"""
