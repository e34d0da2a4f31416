import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { LineCounter, Node, Document as YamlDocument } from 'yaml';
import { type InputFault, moreWords, Refusal, refuseField } from '../errors.ts';
import { fileFault } from '../file-fault.ts';
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

/** A document that was read, with its secrets as values. */
export interface DocumentFile {
  document: unknown;
  /** Faults of the secrets that the document refers to. */
  faults: InputFault[];
  /** Adds the file, the lines and `faults` to a refusal with faults. Returns others unchanged. */
  place(error: unknown): unknown;
}

/** Reads a YAML document; `-` is standard input. If it is not YAML, refuses and names bad lines. */
export async function readDocument(file: string): Promise<DocumentFile> {
  const bytes = file === '-' ? await readStandardInput() : await readNamedFile('file', file);
  const { LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const parsed = parseDocument(bytes.toString('utf8'), {
    lineCounter: lines,
    prettyErrors: false,
  });
  const broken = parsed.errors.map(({ code, message, pos: [at] }) => {
    // Other messages of the parser may quote a secret.
    const words = code === 'DUPLICATE_KEY' ? message : 'this is not YAML';
    return { path: '', message: words, line: lines.linePos(at).line };
  });
  // The first error of a line often causes more on the same line, so only the first is shown.
  const first = new Map(broken.toReversed().map((fault) => [fault.line, fault]));
  if (broken.length > 0) throw refusePlaced(file, [...first.values()]);
  const nodes = await linesIn(parsed, lines);
  const document = valueIn(parsed, file);
  const faults = await readSecrets(document, file === '-' ? '.' : dirname(file));
  return {
    document,
    faults,
    place: (error) => {
      if (!(error instanceof Refusal) || error.faults.length === 0) return error;
      const own = new Set(faults.map(({ path }) => path));
      const others = error.faults
        .map((fault) => ({ ...fault, path: fault.path.replace(/^document\.?/, '') }))
        .filter(({ path }) => !own.has(path));
      const all = [...faults, ...others].map((fault) => ({ ...fault, line: nodes(fault.path) }));
      return refusePlaced(file, all, error);
    },
  };
}

function valueIn(parsed: YamlDocument, file: string): unknown {
  try {
    return parsed.toJS();
  } catch {
    throw refusePlaced(file, [
      { path: '', message: 'an alias is unknown, or the aliases expand too far', line: 1 },
    ]);
  }
}

type Placed = InputFault & { line: number };

function refusePlaced(file: string, given: Placed[], of?: Refusal): Refusal {
  const faults = given.toSorted((one, other) => one.line - other.line);
  const message = faults
    .map(({ path, message, line }) => `${file}:${line}: ${path && `${path}: `}${message}`)
    .concat(moreWords(of?.moreFaults ?? 0))
    .join('\n');
  const { code = 'invalid_input', hint, moreFaults = 0 } = of ?? {};
  return new Refusal(code, message, { faults, hint, moreFaults });
}

/** Makes a function that finds the line of a dotted path, or of its longest part in the text. */
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

const secretFields = [
  ['sso', 'clientSecret'],
  ['ldap', 'bindPassword'],
] as const;

/** Replaces `{env}` and `{file}` with their values. A reference without a value becomes a fault. */
async function readSecrets(document: unknown, folder: string): Promise<InputFault[]> {
  const faults: InputFault[] = [];
  for (const [section, field] of secretFields) {
    const settings = memberOf(document, section);
    const reference = memberOf(settings, field);
    if (!isObject(settings) || reference === undefined) continue;
    const path = `${section}.${field}`;
    try {
      settings[field] = await resolveSecret(reference, folder);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      faults.push({ path, message: error.faults[0]?.message ?? error.message });
      settings[field] = { unchanged: true };
    }
  }
  return faults;
}

async function resolveSecret(reference: unknown, folder: string): Promise<unknown> {
  const form = 'must be {env: NAME}, {file: PATH} or {unchanged: true}';
  if (!isObject(reference) || Object.keys(reference).length !== 1) throw refuseField('', form);
  const { env, file, unchanged } = reference;
  if (unchanged === true) return { unchanged };
  if (typeof env === 'string') {
    const value = process.env[env];
    if (value) return { value };
    throw refuseField('', `the variable ${env} is ${value === '' ? 'empty' : 'not set'}`);
  }
  if (typeof file !== 'string') throw refuseField('', form);
  const value = await readFile(resolve(folder, file), 'utf8').catch((cause: unknown) => {
    throw refuseField('', `${file} ${fileFault(cause, 'read')}`);
  });
  const trimmed = value.replace(/\r?\n$/, '');
  if (trimmed !== '') return { value: trimmed };
  throw refuseField('', `${file} is empty`);
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
