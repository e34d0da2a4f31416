import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { LineCounter, Node, Document as YamlDocument } from 'yaml';
import { type InputFault, moreWords, Refusal } from '../errors.ts';
import {
  readSecrets,
  type SecretRules,
  type SecretSource,
  withSecrets,
} from './document-secrets.ts';
import { readNamedFile, readStandardInput } from './prompt.ts';

/** Writes a document as YAML. Its first line names the schema for editors. */
export async function writeDocument({
  $schema,
  ...document
}: { $schema: string } & Record<string, unknown>): Promise<string> {
  const { Document, isScalar, visit } = await import('yaml');
  const written = new Document(document, { aliasDuplicateObjects: false });
  visit(written, {
    Seq(_key, node) {
      if (node.items.every(isScalar)) node.flow = true;
    },
    Map(_key, node, path) {
      const flat = node.items.every(({ value }) => isScalar(value));
      // A short list entry, or a reference to a secret, takes one line.
      if (path.length > 3 && node.items.length < 4 && flat) node.flow = true;
    },
  });
  const text = written.toString({ lineWidth: 0, flowCollectionPadding: false });
  return `# yaml-language-server: $schema=${$schema}\n${text}`;
}

/** A document that was read. */
export interface DocumentFile {
  /** The document with its secrets as values, or with `{withheld: true}` in their place. */
  document(withheld: boolean): unknown;
  /** The sources of its secrets. */
  sources: SecretSource[];
  /** Faults of the secrets that the document refers to. */
  faults: InputFault[];
  /** Adds the file, the lines and `faults` to a refusal with faults. Returns others unchanged. */
  place(error: unknown): unknown;
}

/** The usual mistakes, by the parser's code. */
const mistakes: Record<string, string> = {
  BAD_INDENT: 'a bracket is not closed, or the indentation is wrong',
  BAD_SCALAR_START: 'a value that begins with a special character needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'the indentation is wrong, or a value with a colon needs quotes',
  MISSING_CHAR: 'a quote, a bracket or a dash is missing, or the indentation is wrong',
  MULTILINE_IMPLICIT_KEY: 'a colon after a name is missing, or the indentation is wrong',
  TAB_AS_INDENT: 'a tab indents a line; use spaces',
};

function notYaml(code: string): string {
  const mistake = mistakes[code];
  return `this is not YAML${mistake === undefined ? '' : `: ${mistake}`}`;
}

/** Reads a YAML document; `-` is standard input. If it is not YAML, refuses and names bad lines. */
export async function readDocument(
  file: string,
  rules: Omit<SecretRules, 'folder'>,
): Promise<DocumentFile> {
  const bytes = file === '-' ? await readStandardInput() : await readNamedFile('file', file);
  const { LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const parsed = parseDocument(bytes.toString('utf8'), {
    lineCounter: lines,
    prettyErrors: false,
  });
  const broken = parsed.errors.map(({ code, message, pos: [at] }) => {
    // Other messages of the parser may quote a secret.
    const words = code === 'DUPLICATE_KEY' ? message : notYaml(code);
    return { path: '', message: words, line: lines.linePos(at).line };
  });
  // The first error of a line often causes more on the same line, so only the first is shown.
  const first = new Map(broken.toReversed().map((fault) => [fault.line, fault]));
  if (broken.length > 0) throw refuseLocated(file, [...first.values()]);
  const nodes = await linesIn(parsed, lines);
  const document = valueIn(parsed, file);
  const folder = await folderOf(file);
  const { found, faults } = await readSecrets(document, { ...rules, folder });
  return {
    document: (withheld) => withSecrets(document, found, withheld),
    sources: found.map(({ source }) => source),
    faults,
    place: (error) => {
      if (!(error instanceof Refusal) || error.faults.length === 0) return error;
      const own = new Set(faults.map(({ path }) => path));
      const others = error.faults
        .map((fault) => ({ ...fault, path: fault.path.replace(/^document\.?/, '') }))
        .filter(({ path }) => !own.has(path));
      const all = [...faults, ...others].map((fault) => ({ ...fault, line: nodes(fault.path) }));
      return refuseLocated(file, all, error);
    },
  };
}

/** The folder of the document; null for standard input, also under a name such as /dev/fd/63. */
async function folderOf(file: string): Promise<string | null> {
  return file !== '-' && (await stat(file)).isFile() ? dirname(file) : null;
}

function valueIn(parsed: YamlDocument, file: string): unknown {
  try {
    return parsed.toJS();
  } catch {
    throw refuseLocated(file, [
      { path: '', message: 'an alias is unknown, or the aliases expand too far', line: 1 },
    ]);
  }
}

type LocatedFault = InputFault & { line: number };

function refuseLocated(file: string, given: LocatedFault[], of?: Refusal): Refusal {
  const faults = given.toSorted((one, other) => one.line - other.line);
  const message = faults
    .map(({ path, message, line }) => `${file}:${line}: ${path && `${path}: `}${message}`)
    .concat(moreWords(of?.moreFaults ?? 0))
    .join('\n');
  const { code = 'invalid_input', hint, moreFaults = 0 } = of ?? {};
  return new Refusal(code, message, { faults, hint, moreFaults });
}

/** Creates a function that finds the line of a dotted path, or of its longest part in the text. */
async function linesIn(
  parsed: YamlDocument,
  lines: LineCounter,
): Promise<(path: string) => number> {
  const { isMap, isScalar, isSeq } = await import('yaml');
  return (path) => {
    let node: unknown = parsed.contents;
    let line = 1;
    for (const part of path === '' ? [] : path.split('.')) {
      const pair = isMap(node)
        ? node.items.find(({ key }) => isScalar(key) && String(key.value) === part)
        : undefined;
      const found = isSeq(node) ? node.items[Number(part)] : pair?.key;
      // The cast is safe: every key, value and item of a parsed document is a node.
      const start = (found as Node | null | undefined)?.range?.[0];
      if (start === undefined) break;
      line = lines.linePos(start).line;
      node = isSeq(node) ? found : pair?.value;
    }
    return line;
  };
}
