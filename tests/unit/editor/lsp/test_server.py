"""The language server, used by a client over its streams and over a port; as a process, too."""

from __future__ import annotations

import random
import socket
import subprocess
import time

import pytest

pytest.importorskip("pygls", reason="pygls is not installed")

from lsprotocol import types as lsp
from support.assembly_texts import ASSEMBLE, SASS, meaning, random_text, written
from support.language_client import SERVER, Editor, edited, talk

SHADER = """.alias where c4 ; \U0001f600 a name
main:
    mov r1, where[1] ; \U0001f600\U0001f600 after that
    add o0, r1, v0
    call sub
    end
.proc sub
    mul r1, r1, r1
.endproc
"""
KERNEL = """.kernel first
.param data ptr
        MOV R4, c[0x0][data]
        MOV R5, c[0x0][data+4]
again:
        LDG.E.64 R2, [R4]
        ISETP.GE.U32.AND P0, PT, R3, 0x5, PT
    @P0 BRA `(again)
        EXIT
.kernel second
again:
        BRA `(again)
"""
MACRO = """    parm r2 maddr r1
again:
    mov r2, r2 - 1
    bnz r2, again
    maddr @CLEAR_SURFACE
    exit send r3
    nop
"""
FILES = {"file:///a/x.pica": SHADER, "file:///a/x.sass": KERNEL, "file:///a/x.mme": MACRO}
VERTEX, CODE, METHODS = FILES


def spans(text: str, problems: list[lsp.Diagnostic]) -> list[tuple[int, str]]:
    """Line and text of what diagnostics are about."""
    found = []
    for one in problems:
        line = text.split("\n")[one.range.start.line].encode("utf-16-le")
        part = line[2 * one.range.start.character : 2 * one.range.end.character].decode("utf-16-le")
        assert one.range.start.line == one.range.end.line
        found.append((one.range.start.line, part))
    return found


def test_texts_without_errors_have_no_problems() -> None:
    async def work(editor: Editor) -> None:
        for uri, text in FILES.items():
            await editor.open(uri, text)
            assert await editor.problems(uri) == []

    talk(work, process=True)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (
            "x.pica",
            "main:\n mov r0, x9 ; \U0001f600\n add o0, o0, v1\nfoo\n jmpc cmp.x, there\n add r0, v0, v1\n"
            " mov r1, r2.xk\n",
            [(1, "x9"), (2, "o0"), (3, "foo"), (4, "there"), (5, "v1"), (6, "xk")],
        ),
        (
            "x.sass",
            ".kernel k\n.param p foo\n /* \U0001f600 */ FOO R1\n IADD R1, R2, R3.H5\n BRA `(there)\n"
            " MOV R1, c[0x0][q]\n.kernal z\n",
            [(1, "foo"), (2, "FOO"), (3, "R3"), (4, "there"), (5, "q"), (6, ".kernal")],
        ),
        (
            "x.mme",
            "mov r1, foo(r2)\na: bra there\n send @CLEAR_SURFAC\na: nop\n mov r1, 0x100000\n wrong\n",
            [(0, "foo"), (1, "there"), (2, "@CLEAR_SURFAC"), (3, "a"), (4, "mov"), (5, "wrong")],
        ),
    ],
)
def test_all_errors_of_a_text_have_their_places(name: str, text: str, found: list[tuple[int, str]]) -> None:
    async def work(editor: Editor) -> None:
        uri = f"file:///a/{name}"
        await editor.open(uri, text)
        problems = await editor.problems(uri)
        assert spans(text, problems) == found
        assert all(one.source == "pocketgpu" and one.message for one in problems)
        levels = {one.severity for one in problems}
        assert levels <= {lsp.DiagnosticSeverity.Error, lsp.DiagnosticSeverity.Warning}
        await editor.change(uri, "\n", 2)
        assert await editor.problems(uri, 2) == []
        editor.client.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri)))
        await editor.ask("textDocument/documentSymbol", lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(uri)))
        assert editor.diagnostics[uri].diagnostics in ([], ())

    talk(work)


HOMEBREW = """; a shader of homebrew
.fvec projection[4], modelView[4]
.constf half(0.5, 0.5, 0.5, 1)
.alias ones half.wwww
.out outpos position
.in inpos
.proc main
    for i0
        dp4 outpos.x, projection[lcnt], inpos
        call lit
    .end
    mov r0, ones
    end
.end
.proc lit
    nop
.end
"""


def test_a_text_of_picasso() -> None:
    """Its directives are read, its names are symbols with definitions, uses and new names."""
    uri = "file:///a/vertex.v.pica"

    async def work(editor: Editor) -> None:
        at, document = (lambda word: editor.at(uri, word)), lsp.TextDocumentIdentifier(uri)
        await editor.open(uri, HOMEBREW)
        assert await editor.problems(uri) == []
        for word, text in (
            (".fvec", "float uniforms"), ("for i0", "x + 1 times"), ("projection[lcnt", "uniform in line 2"),
            ("lcnt]", "counter of the loop"), ("ones\n", "alias in line 4"), ("inpos\n        call", "input in line 6"),
        ):  # fmt: skip
            found = await editor.ask("textDocument/hover", lsp.HoverParams(**at(word)))
            assert text in found.contents.value.lower(), word
        symbols = await editor.ask("textDocument/documentSymbol", lsp.DocumentSymbolParams(document))
        assert [one.name for one in symbols] == [
            "projection", "modelView", "half", "ones", "outpos", "inpos", "main", "lit",
        ]  # fmt: skip
        (found,) = await editor.ask("textDocument/definition", lsp.DefinitionParams(**at("projection[lcnt")))
        assert found.range.start.line == 1
        edit = await editor.ask("textDocument/rename", lsp.RenameParams(new_name="clip", **at("projection[lcnt")))
        assert edited(HOMEBREW, edit.changes[uri]) == HOMEBREW.replace("projection", "clip")

    talk(work)


def test_a_procedure_of_another_text_is_a_warning() -> None:
    text = ".proc main\n    call lit\n    end\n.end\n"

    async def work(editor: Editor) -> None:
        uri = "file:///a/part.v.pica"
        await editor.open(uri, text)
        (one,) = problems = await editor.problems(uri)
        assert spans(text, problems) == [(1, "lit")] and one.severity == lsp.DiagnosticSeverity.Warning
        await editor.change(uri, text.replace("    end\n", "").replace("call lit", "nop"), 2)
        (one,) = await editor.problems(uri, 2)
        assert "there is no end" in one.message and one.severity == lsp.DiagnosticSeverity.Warning
        assert (one.range.start.line, one.range.start.character) == (1, 4)

    talk(work)


def test_columns_in_other_units() -> None:
    async def work(editor: Editor) -> None:
        await editor.open(CODE, ".kernel k\n/* \u00e9\U0001f600 */ FOO\n")
        (one,) = await editor.problems(CODE)
        chosen = editor.answer.capabilities.position_encoding
        places[lsp.PositionEncodingKind(chosen).value] = one.range.start.character
        at = {"text_document": lsp.TextDocumentIdentifier(CODE), "position": one.range.start}
        found = await editor.ask("textDocument/documentHighlight", lsp.DocumentHighlightParams(**at))
        assert not found
        hover = await editor.ask("textDocument/completion", lsp.CompletionParams(**at))
        assert hover.items[0].text_edit.range.start.character == one.range.start.character

    places: dict[str, int] = {}
    for encoding in ("utf-8", "utf-16", "utf-32"):
        talk(work, [encoding])
    assert places == {"utf-8": 13, "utf-16": 10, "utf-32": 9}


def test_hover_tells_what_the_tables_say() -> None:
    async def work(editor: Editor) -> None:
        for uri, text in FILES.items():
            await editor.open(uri, text)
            await editor.problems(uri)

        async def hover(uri: str, part: str, after: int = 0) -> str:
            found = await editor.ask("textDocument/hover", lsp.HoverParams(**editor.at(uri, part, after)))
            return "" if found is None else found.contents.value

        assert "product of the sources" in await hover(VERTEX, "mul r1")
        assert "3dbrew" in await hover(VERTEX, "mul r1") and "`src1` can be a float uniform" in await hover(
            VERTEX, "mul r1"
        )
        assert "Alias in line 1: c4" in await hover(VERTEX, "where[1]")
        assert "Written in line 3" in await hover(VERTEX, "r1, v0")
        assert "a procedure begins" in await hover(VERTEX, ".proc")
        load = await hover(CODE, "LDG")
        assert "load of global memory" in load and "about 200 until its barrier" in load and "maxas" in load
        assert "LDG" in load and "Parameter in line 2: ptr" in await hover(CODE, "data+4")
        assert "Written in line 6" in await hover(CODE, "R3, 0x5")  # by the second half of a pair
        assert "GE" in await hover(CODE, ".GE", 1) and "5, 0x5" in await hover(CODE, "0x5")
        assert "Clears what the bits name" in await hover(METHODS, "@CLEAR")
        assert "method address" in await hover(METHODS, "maddr @") and "one more instruction" in await hover(
            METHODS, "exit"
        )
        assert await hover(VERTEX, "after that") == ""

    talk(work)


def test_hover_explains_a_scheduling_field() -> None:
    async def work(editor: Editor) -> None:
        await editor.open(CODE, "        [B0-----:R1:W-:Y:S05] MOV R1, R2 ;\n")
        await editor.problems(CODE)
        found = await editor.ask("textDocument/hover", lsp.HoverParams(**editor.at(CODE, "[B0", 3)))
        text = found.contents.value
        for part in ("`wait 0`", "`read_barrier 1`", "`write_barrier none`", "`stall 5`", "cycles to wait after issue"):
            assert part in text

    talk(work)


def test_completion_knows_where_it_is() -> None:
    async def work(editor: Editor) -> None:
        async def offers(uri: str, text: str) -> dict[str, lsp.CompletionItem]:
            """What is offered at the sign |."""
            version = versions[uri] = versions.get(uri, 0) + 1
            await (editor.open if version == 1 else editor.change)(uri, text.replace("|", ""), version=version)
            editor.texts[uri] = text
            params = lsp.CompletionParams(**editor.at(uri, "|"))
            editor.texts[uri] = text.replace("|", "")
            await editor.problems(uri, version)
            found = await editor.ask("textDocument/completion", params)
            assert not found.is_incomplete
            return {one.label: one for one in found.items}

        versions: dict[str, int] = {}
        assert {"dp4", "mad", ".alias", "endloop"} <= (await offers(VERTEX, "main:\n |")).keys()
        found = await offers(VERTEX, ".alias where c4\nmain: mov r0, wh|")
        assert {"where", "c95", "aL", "main"} <= found.keys() and "dp4" not in found
        edit = found["where"].text_edit
        assert edit.range.start.character == 14 and edit.range.end.character == 16
        assert {"lt", "ge"} <= (await offers(VERTEX, "cmp r0, |")).keys()
        assert {"position", "texcoord0w"} <= (await offers(VERTEX, ".out o0 |")).keys()
        assert set(await offers(VERTEX, "mov r0, r1 ; r|")) == set()
        assert {".fvec", ".gsh", ".else", "for"} <= (await offers(VERTEX, "|")).keys()
        assert {"point", "fixed", "particle"} == (await offers(VERTEX, ".gsh |")).keys() - {"variable", "subdivision"}
        assert {"c0", "c95"} <= (await offers(VERTEX, ".gsh fixed |")).keys()
        assert {"v0", "v15"} == (await offers(VERTEX, ".in it |")).keys() & {"v0", "v15", "c0", "a0"}
        found = await offers(VERTEX, ".fvec light\n.out it |")
        assert {"position", "dummy", "nquat"} <= found.keys() and "o1" not in found
        assert {"o0", "it"} <= (await offers(VERTEX, ".out it color\n.out other view |")).keys()
        assert {"true", "off"} <= (await offers(VERTEX, ".setb b0 |")).keys()
        assert {"light", "c0"} <= (await offers(VERTEX, ".fvec light\n.setf |")).keys()
        assert {"shade", "main"} <= (await offers(VERTEX, ".proc shade\n.end\nmain: end\n.entry |")).keys()
        assert {"lcnt", "light", "a1"} <= (await offers(VERTEX, ".fvec light[4]\nmain: mov r0, light[|")).keys()
        assert {"primitive", "inv"} <= (await offers(VERTEX, "setemit 1, |")).keys()
        assert {"IADD3", "LDG", ".param"} <= (await offers(CODE, ".kernel k\n        I|")).keys()
        found = await offers(CODE, "ISETP.|")
        assert {".GE", ".U32", ".AND"} <= found.keys()
        assert found[".GE"].text_edit.range.start.character == 5
        assert {".GE"} <= (await offers(CODE, "ISETP.G|")).keys()
        assert {"SR_TID.X", "RZ"} <= (await offers(CODE, "S2R R0, |")).keys()
        found = await offers(CODE, ".kernel a\n.param p ptr\n MOV R9, c[0x0][|\n.kernel b\n.param q ptr")
        assert {"p", "R9", "PT"} <= found.keys() and "q" not in found
        assert {"u32", "ptr"} <= (await offers(CODE, ".kernel a\n.param p |")).keys()
        found = await offers(METHODS, "maddr @CLEAR|")
        assert found["@CLEAR_SURFACE"].text_edit.range.start.character == 6
        resolved = await editor.ask("completionItem/resolve", found["@CLEAR_SURFACE"])
        assert "Clears what the bits name" in resolved.documentation.value
        assert {"extract", "read", "addc"} <= (await offers(METHODS, "mov r1, |")).keys()

    talk(work)


def test_names_lead_to_their_definitions_and_uses() -> None:
    async def work(editor: Editor) -> None:
        for uri, text in FILES.items():
            await editor.open(uri, text)
            await editor.problems(uri)

        async def lines(method: str, uri: str, part: str, after: int = 0) -> list[int]:
            params = editor.at(uri, part, after)
            if method == "references":
                params["context"] = lsp.ReferenceContext(True)
            kind = {"definition": lsp.DefinitionParams, "references": lsp.ReferenceParams}[method]
            found = await editor.ask(f"textDocument/{method}", kind(**params))
            return [one.range.start.line for one in found]

        assert await lines("definition", VERTEX, "where[1]") == [0]
        assert await lines("definition", VERTEX, "sub\n    end") == [6]
        assert await lines("definition", VERTEX, "r1, v0") == [2]
        assert await lines("definition", CODE, "again)") == [4]
        assert await lines("definition", CODE, "BRA `(again)\n", 6) == [4]
        assert await lines("definition", CODE, "data+4") == [1]
        assert await lines("definition", CODE, "R3, 0x5") == [5]
        assert await lines("definition", CODE, "P0 BRA") == [6]
        assert await lines("definition", METHODS, "again\n    maddr") == [1]
        assert await lines("definition", METHODS, "r2, again") == [2]
        assert await lines("references", VERTEX, "where[1]") == [0, 2]
        assert await lines("references", CODE, "again:") == [4, 7]  # that of the other kernel is another one
        assert await lines("references", CODE, "R4]") == [2, 5]
        assert await lines("references", METHODS, "again:") == [1, 3]
        assert await lines("definition", VERTEX, "end\n.proc") == []

        renamed = await editor.ask(
            "textDocument/rename", lsp.RenameParams(**editor.at(CODE, "again:"), new_name="loop")
        )
        text = edited(KERNEL, renamed.changes[CODE])
        assert text.count("loop") == 2 and text.count("again") == 2 and meaning(SASS, text)
        nothing = await editor.ask("textDocument/prepareRename", lsp.PrepareRenameParams(**editor.at(CODE, "R4]")))
        assert nothing is None

    talk(work)


def test_symbols_of_a_document() -> None:
    async def work(editor: Editor) -> None:
        found = {}
        for uri, text in FILES.items():
            await editor.open(uri, text)
            await editor.problems(uri)
            params = lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(uri))
            found[uri] = await editor.ask("textDocument/documentSymbol", params)
        assert [(one.name, one.detail) for one in found[VERTEX]] == [
            ("where", "c4"),
            ("main", "entry"),
            ("sub", "procedure"),
        ]
        kernels = found[CODE]
        assert [one.name for one in kernels] == ["first", "second"]
        assert [one.name for one in kernels[0].children] == ["data", "again"]
        assert (kernels[0].range.start.line, kernels[0].range.end.line) == (0, 8)
        assert [one.name for one in found[METHODS]] == ["again"]

    talk(work)


def test_layout_through_the_protocol() -> None:
    r = random.Random(3)
    texts = {
        uri: f"{written()[language.name][0]}\n; \U0001f600" if language is not SASS else random_text(language, r)
        for language, uri in zip(ASSEMBLE, FILES, strict=True)
    }
    languages = dict(zip(FILES, ASSEMBLE, strict=True))

    async def work(editor: Editor) -> None:
        options = lsp.FormattingOptions(4, True)
        for uri, text in texts.items():
            await editor.open(uri, text)
            await editor.problems(uri)
            document = lsp.TextDocumentIdentifier(uri)
            edits = await editor.ask("textDocument/formatting", lsp.DocumentFormattingParams(document, options))
            after = edited(text, edits)
            assert edits and meaning(languages[uri], after) == meaning(languages[uri], text)
            line = edits[0].range.start.line
            whole = lsp.Range(lsp.Position(line, 0), lsp.Position(line, 1))
            params = lsp.DocumentRangeFormattingParams(document, whole, options)
            assert await editor.ask("textDocument/rangeFormatting", params) == (edits[0],)
            await editor.change(uri, after, 2)
            await editor.problems(uri, 2)
            assert not await editor.ask("textDocument/formatting", lsp.DocumentFormattingParams(document, options))

    talk(work)


def test_semantic_tokens_are_those_of_the_text() -> None:
    async def work(editor: Editor) -> None:
        await editor.open(VERTEX, SHADER)
        await editor.problems(VERTEX)
        params = lsp.SemanticTokensParams(lsp.TextDocumentIdentifier(VERTEX))
        data = (await editor.ask("textDocument/semanticTokens/full", params)).data
        legend = editor.answer.capabilities.semantic_tokens_provider.legend.token_types
        lines = [line.encode("utf-16-le") for line in SHADER.split("\n")]
        line = start = 0
        found = []
        for down, right, length, kind, _ in zip(*[iter(data)] * 5, strict=True):
            line, start = line + down, right if down else start + right
            found.append((lines[line][2 * start : 2 * (start + length)].decode("utf-16-le"), legend[kind]))
        assert found[:4] == [
            (".alias", "macro"),
            ("where", "variable"),
            ("c4", "parameter"),
            ("; \U0001f600 a name", "comment"),
        ]
        assert ("mul", "keyword") in found and ("main", "function") in found

    talk(work)


def test_a_large_text_does_not_hold_up_the_others() -> None:
    line = "        XMAD R0, R0, c[0x0][0x8], R1 // a kernel that goes on\n"
    large = ".kernel k\n" + line * (1_000_000 // len(line))
    assert len(large) > 990_000

    async def work(editor: Editor) -> None:
        await editor.open(VERTEX, SHADER)
        await editor.problems(VERTEX)
        for version in range(1, 6):
            text = large + f"        FOO R{version}\n"
            await (editor.open if version == 1 else editor.change)(CODE, text, version=version)
            found = await editor.ask("textDocument/hover", lsp.HoverParams(**editor.at(VERTEX, "mul r1")))
            assert "product" in found.contents.value
        problems = await editor.problems(CODE, 5)
        assert [one.message.split("\n")[0] for one in problems] == ["'FOO' is no instruction"]
        assert len([one for one in editor.published if one[0] == CODE]) <= 2  # checks of older versions have ended
        document = lsp.TextDocumentIdentifier(CODE)
        await editor.ask("textDocument/documentSymbol", lsp.DocumentSymbolParams(document))
        await editor.ask(
            "textDocument/references", lsp.ReferenceParams(**editor.at(CODE, "R0"), context=lsp.ReferenceContext(True))
        )

    talk(work, process=True)


def test_what_is_too_large_is_said_and_not_read() -> None:
    async def work(editor: Editor) -> None:
        await editor.open(VERTEX, "nop\n" * (2 << 20))
        (one,) = await editor.problems(VERTEX)
        assert "more than 4 MiB" in one.message and one.severity == lsp.DiagnosticSeverity.Warning
        await editor.open(CODE, "EXIT\n" + " ," * 100_000 + "\nFOO\n")
        problems = await editor.problems(CODE)
        assert [one.range.start.line for one in problems] == [1, 2]
        await editor.open(METHODS, "wrong\n" * 1000)
        assert len(await editor.problems(METHODS)) == 100

    talk(work)


def test_requests_about_nothing() -> None:
    """Places that are not there, documents that are not open, texts of no language: an answer, and no error."""

    async def work(editor: Editor) -> None:
        await editor.open("file:///a/x.txt", "hello\n", "plaintext")
        await editor.open(VERTEX, "main: \U0001f600\r\n\u2028nop\x0c\rnop")
        await editor.problems(VERTEX)
        for uri in ("file:///a/x.txt", "file:///none", VERTEX):
            document = lsp.TextDocumentIdentifier(uri)
            for line, column in ((0, 0), (0, 7), (1, 1), (2, 3), (0, 99999), (99999, 0), (2**31 - 1, 2**31 - 1)):
                at = {"text_document": document, "position": lsp.Position(line, column)}
                await editor.ask("textDocument/hover", lsp.HoverParams(**at))
                await editor.ask("textDocument/completion", lsp.CompletionParams(**at))
                await editor.ask("textDocument/definition", lsp.DefinitionParams(**at))
                await editor.ask(
                    "textDocument/references", lsp.ReferenceParams(**at, context=lsp.ReferenceContext(False))
                )
                await editor.ask("textDocument/documentHighlight", lsp.DocumentHighlightParams(**at))
                await editor.ask("textDocument/rename", lsp.RenameParams(**at, new_name="x"))
            options = lsp.FormattingOptions(4, True)
            await editor.ask("textDocument/formatting", lsp.DocumentFormattingParams(document, options))
            await editor.ask("textDocument/documentSymbol", lsp.DocumentSymbolParams(document))
            await editor.ask("textDocument/semanticTokens/full", lsp.SemanticTokensParams(document))
        item = lsp.CompletionItem("x", data=["no", 1, None])
        assert (await editor.ask("completionItem/resolve", item)).documentation is None

    talk(work)


def test_over_a_port() -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        port = one.getsockname()[1]
        done = subprocess.run([*SERVER, "--port", str(port)], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2 and "cannot listen" in done.stderr

    async def work(editor: Editor) -> None:
        await editor.open(VERTEX, "foo\n")
        (problem,) = await editor.problems(VERTEX)
        assert "no instruction 'foo'" in problem.message

    server = subprocess.Popen([*SERVER, "--port", str(port)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        for _ in range(600):
            try:
                talk(work, port=port)
                break
            except ConnectionError:
                time.sleep(0.05)
        else:
            raise AssertionError("the server does not listen")
        server.wait(30)
    finally:
        server.kill()
        server.communicate()
