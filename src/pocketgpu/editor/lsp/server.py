"""The language server: the protocol's requests, put to documents, and their answers in its words.

Whole texts are sent for each change, and every answer that needs more than a line is made in a thread, so that a large
text does not hold up the others. A check of a text ends when a newer version of it is there.
"""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from pocketgpu import __version__
from pocketgpu.editor.lsp import answers
from pocketgpu.editor.lsp.document import Defined, Document, Place
from pocketgpu.editor.lsp.languages.factory import language_of
from pocketgpu.editor.lsp.languages.model import Kind, Problem, Role
from pocketgpu.editor.lsp.languages.text import MOST_BYTES, MOST_COLUMNS, column_of, for_assembler, units_of

MOST_PROBLEMS: Final = 100
WAIT: Final = 0.15
"""Seconds without a change after which a text is checked."""
SOURCE: Final = "pocketgpu"
TOKEN_KINDS: Final = tuple(Kind)
_SYMBOLS: Final = {
    Role.KERNEL: lsp.SymbolKind.Module,
    Role.ENTRY: lsp.SymbolKind.Function,
    Role.PROCEDURE: lsp.SymbolKind.Function,
    Role.LABEL: lsp.SymbolKind.Key,
    Role.ALIAS: lsp.SymbolKind.Variable,
    Role.PARAMETER: lsp.SymbolKind.Variable,
    Role.CONSTANT: lsp.SymbolKind.Constant,
    Role.UNIFORM: lsp.SymbolKind.Variable,
    Role.INPUT: lsp.SymbolKind.Variable,
    Role.OUTPUT: lsp.SymbolKind.Variable,
}
_COMPLETIONS: Final = {
    Kind.MNEMONIC: lsp.CompletionItemKind.Keyword,
    Kind.DIRECTIVE: lsp.CompletionItemKind.Snippet,
    Kind.MODIFIER: lsp.CompletionItemKind.EnumMember,
    Kind.REGISTER: lsp.CompletionItemKind.Variable,
    Kind.METHOD: lsp.CompletionItemKind.Property,
}


class _AtPlace(Protocol):
    """A request about a place in a document."""

    text_document: lsp.TextDocumentIdentifier
    position: lsp.Position


class Server(LanguageServer):
    """The server with the documents that are open."""

    def __init__(self) -> None:
        super().__init__("pocketgpu", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.documents: dict[str, Document] = {}
        self.checks: dict[str, asyncio.Task[None]] = {}

    @property
    def encoding(self) -> str:
        """What the client counts columns in."""
        return str(lsp.PositionEncodingKind(self.workspace.position_encoding or "utf-16").value)

    def range_of(self, document: Document, line: int, start: int, end: int) -> lsp.Range:
        """A part of a line in the client's columns."""
        text = document.lines[line]
        first, last = units_of(text, start, self.encoding), units_of(text, end, self.encoding)
        return lsp.Range(lsp.Position(line, first), lsp.Position(line, last))

    def place(self, params: _AtPlace) -> tuple[Document, int, int] | None:
        """The document, line and column of a request; None if there is no such line."""
        document = self.documents.get(params.text_document.uri)
        line = params.position.line
        if document is None or line >= len(document.lines):
            return None
        return document, line, column_of(document.lines[line], params.position.character, self.encoding)

    def locations(self, uri: str, document: Document, places: list[Place]) -> list[lsp.Location]:
        """Places as the protocol has them."""
        return [lsp.Location(uri, self.range_of(document, one.line, one.token.start, one.token.end)) for one in places]

    async def update(self, uri: str, text: str, identifier: str, version: int) -> None:
        """A new version of a text is there."""
        before = self.documents.get(uri)
        language = language_of(identifier, uri) if before is None else before.language
        if language is None:
            return
        known = before.known if before is not None else None
        document = await asyncio.to_thread(Document, text, language, version, known)
        current = self.documents.get(uri)
        if current is not None and current.version > version:
            return
        self.documents[uri] = document
        if (running := self.checks.get(uri)) is not None:
            running.cancel()
        self.checks[uri] = asyncio.create_task(self.check(uri, document))

    async def check(self, uri: str, document: Document) -> None:
        """Publish what is wrong with a document, unless a newer version comes before that is known."""
        await asyncio.sleep(WAIT)
        found = await asyncio.to_thread(problems_of, document, lambda: self.documents.get(uri) is not document)
        if self.documents.get(uri) is document:
            shown = [self.diagnostic(document, one) for one in found]
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, shown, document.version))

    def diagnostic(self, document: Document, problem: Problem) -> lsp.Diagnostic:
        """A problem with the range of the token that it is about, or of the rest of its line."""
        line = min(max(problem.line - 1, 0), len(document.lines) - 1)
        text = document.lines[line]
        start = min(problem.column - 1, len(text)) if problem.column else len(text) - len(text.lstrip())
        token = next((one for one in document.tokens(line) if one.start <= start < one.end), None)
        end = token.end if token is not None else max(len(text.rstrip()), start)
        message = problem.message + (f"\n{problem.hint}" if problem.hint else "")
        level = lsp.DiagnosticSeverity.Warning if problem.warning else lsp.DiagnosticSeverity.Error
        return lsp.Diagnostic(self.range_of(document, line, start, end), message, level, source=SOURCE)


def problems_of(document: Document, stop: answers.Stop) -> list[Problem]:
    """What is wrong with a document: what its assembler says, and what is too long to be read."""
    if document.too_large:
        return [Problem(f"the text has more than {MOST_BYTES >> 20} MiB and is not read", 1, 0, warning=True)]
    long = [
        Problem(f"a line of more than {MOST_COLUMNS} characters is not read", number, 1, warning=True)
        for number, line in enumerate(document.lines, 1)
        if len(line) > MOST_COLUMNS
    ]
    found = document.language.problems(for_assembler(document.lines), MOST_PROBLEMS, stop)
    return [*long[:MOST_PROBLEMS], *found]


def make_server() -> Server:
    """A server that nobody is connected to."""
    server = Server()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        one = params.text_document
        await server.update(one.uri, one.text, one.language_id, one.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        one = params.text_document
        await server.update(one.uri, server.workspace.get_text_document(one.uri).source, "", one.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.documents.pop(uri, None)
        if (running := server.checks.pop(uri, None)) is not None:
            running.cancel()
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    _add_words(server)
    _add_names(server)
    _add_symbols(server)
    _add_layout(server)
    return server


def _add_words(server: Server) -> None:
    """Requests about words: hover and completion."""

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        place = server.place(params)
        found = await asyncio.to_thread(answers.described, *place) if place is not None else None
        if place is None or found is None:
            return None
        token, text = found
        markdown = lsp.MarkupContent(lsp.MarkupKind.Markdown, text)
        return lsp.Hover(markdown, server.range_of(place[0], place[1], token.start, token.end))

    options = lsp.CompletionOptions(trigger_characters=[".", "@"], resolve_provider=True)

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, options)
    async def completion(params: lsp.CompletionParams) -> lsp.CompletionList:
        place = server.place(params)
        if place is None:
            return lsp.CompletionList(False, [])
        document, line, column = place
        offer = await asyncio.to_thread(answers.offered, document, line, column)
        where = server.range_of(document, line, offer.start, column)
        items = [
            lsp.CompletionItem(
                one.name,
                kind=_COMPLETIONS.get(one.kind, lsp.CompletionItemKind.Value),
                detail=one.detail,
                filter_text=one.name,
                text_edit=lsp.TextEdit(where, one.name),
                data=[document.language.name, one.kind.name, one.name],
            )
            for one in offer.entries
        ]
        names = {one.definition.name: one.definition for one in offer.names}
        items += [
            lsp.CompletionItem(
                name,
                kind=lsp.CompletionItemKind.Reference,
                detail=f"{one.role.value} {one.detail}".rstrip(),
                text_edit=lsp.TextEdit(where, name),
            )
            for name, one in names.items()
        ]
        return lsp.CompletionList(len(items) >= answers.MOST_COMPLETIONS, items)

    @server.feature(lsp.COMPLETION_ITEM_RESOLVE)
    def resolve(item: lsp.CompletionItem) -> lsp.CompletionItem:
        data = item.data
        if isinstance(data, list) and len(data) == 3:
            language, kind = language_of(str(data[0]), ""), str(data[1])
            if language is not None and kind in Kind.__members__:
                entry = language.words(Kind[kind]).get(str(data[2]))
                if entry is not None:
                    item.documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, entry.text())
        return item


def _add_names(server: Server) -> None:
    """Requests about names: where they are defined and used, and how else they could be called."""

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        place = server.place(params)
        found = place[0].at(place[1], place[2]) if place is not None else None
        if place is None or found is None:
            return []
        places = await asyncio.to_thread(place[0].definitions_of, place[1], found[0])
        return server.locations(params.text_document.uri, place[0], places)

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    async def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        document, places = await _uses(params)
        if document is None:
            return []
        if not params.context.include_declaration:
            own = {(one.line, one.definition.token.start) for one in document.defined}
            places = [one for one in places if (one.line, one.token.start) not in own]
        return server.locations(params.text_document.uri, document, places)

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        document, places = await _uses(params)
        if document is None:
            return []
        found = server.locations(params.text_document.uri, document, places)
        return [lsp.DocumentHighlight(one.range) for one in found]

    async def _uses(params: _AtPlace) -> tuple[Document | None, list[Place]]:
        """The uses of what is at a place, with its document; None if nothing with a name is there."""
        place = server.place(params)
        found = place[0].at(place[1], place[2]) if place is not None else None
        if place is None or found is None or found[0].kind not in (Kind.NAME, Kind.LABEL, Kind.REGISTER, Kind.METHOD):
            return None, []
        return place[0], await asyncio.to_thread(lambda: [*place[0].uses(place[1], found[0])])

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def may_rename(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        place = server.place(params)
        found = place[0].at(place[1], place[2]) if place is not None else None
        if place is None or found is None:
            return None
        named = place[0].named(place[1], found[0].text)
        # A register that has a constant keeps its own name.
        if not any(one.definition.token.kind is not Kind.REGISTER for one in named):
            return None
        return server.range_of(place[0], place[1], found[0].start, found[0].end)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        uri = params.text_document.uri
        if may_rename(lsp.PrepareRenameParams(params.text_document, params.position)) is None:
            return None
        document, places = await _uses(params)
        if document is None:
            return None
        found = server.locations(uri, document, places)
        return lsp.WorkspaceEdit({uri: [lsp.TextEdit(one.range, params.new_name) for one in found]})


def _add_symbols(server: Server) -> None:
    """All names of a document."""

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return []
        found: list[lsp.DocumentSymbol] = []
        kernel: lsp.DocumentSymbol | None = None
        for one in await asyncio.to_thread(lambda: document.defined):
            symbol = _symbol(document, one)
            if one.definition.role is Role.KERNEL:
                kernel = symbol
                found.append(symbol)
            elif kernel is None:
                found.append(symbol)
            else:
                kernel.children = [*(kernel.children or []), symbol]
        return found

    def _symbol(document: Document, one: Defined) -> lsp.DocumentSymbol:
        token = one.definition.token
        own = server.range_of(document, one.line, token.start, token.end)
        whole = own
        if one.definition.role is Role.KERNEL:
            last = len(document.scopes) - 1 - document.scopes[::-1].index(one.scope)
            end = server.range_of(document, last, 0, len(document.lines[last])).end
            whole = lsp.Range(lsp.Position(one.line, 0), end)
        role = one.definition.role
        return lsp.DocumentSymbol(one.definition.name, _SYMBOLS[role], whole, own, one.definition.detail or role.value)


def _add_layout(server: Server) -> None:
    """Requests about all lines: their layout, and the kinds of their tokens."""

    async def _edits(uri: str, first: int, last: int) -> list[lsp.TextEdit]:
        document = server.documents.get(uri)
        if document is None or document.too_large:
            return []
        lines = await asyncio.to_thread(document.formatted)
        return [
            lsp.TextEdit(server.range_of(document, number, 0, len(before)), after)
            for number, (before, after) in enumerate(zip(document.lines, lines, strict=True))
            if before != after and first <= number <= last
        ]

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    async def formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        return await _edits(params.text_document.uri, 0, MOST_BYTES)

    @server.feature(lsp.TEXT_DOCUMENT_RANGE_FORMATTING)
    async def some_formatting(params: lsp.DocumentRangeFormattingParams) -> list[lsp.TextEdit]:
        return await _edits(params.text_document.uri, params.range.start.line, params.range.end.line)

    legend = lsp.SemanticTokensLegend([kind.value for kind in TOKEN_KINDS], [])

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, legend)
    async def tokens(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        document = server.documents.get(params.text_document.uri)
        data = [] if document is None else await asyncio.to_thread(_token_numbers, document, server.encoding)
        return lsp.SemanticTokens(data)


def _token_numbers(document: Document, encoding: str) -> list[int]:
    """Five numbers for each token: lines and columns from the one before, length, kind, nothing."""
    numbers = {kind: number for number, kind in enumerate(TOKEN_KINDS)}
    found: list[int] = []
    last_line = 0
    for line, text in enumerate(document.lines):
        last_column = 0
        for one in document.known[text]:
            start, end = units_of(text, one.start, encoding), units_of(text, one.end, encoding)
            found += (line - last_line, start - last_column, end - start, numbers[one.kind], 0)
            last_line, last_column = line, start
    return found


__all__ = ["MOST_PROBLEMS", "Server", "make_server", "problems_of"]
