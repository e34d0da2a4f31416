import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  isMap,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
  type YAMLParseError,
} from 'yaml';
import { Refusal } from '../errors.ts';
import { fileFault, isFolder, isMissing, nameFileIn } from '../host/file-fault.ts';
import { asTyped } from '../host/typed-program.ts';
import { shellWord } from '../text/shell-word.ts';
import { typed } from './environment.ts';
import { absolute, type Given, refuseUnknown } from './given.ts';
import { systemFile } from './paths.ts';
import { settings } from './setting-list.ts';

/** The text of a configuration file, or null if there is none. Refuses an unreadable file. */
export async function readConfigFile(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (isMissing(cause)) return null;
    if (isFolder(cause)) throw new Refusal('config_invalid', nameFileIn(path), { cause });
    throw new Refusal('config_invalid', `${path} ${fileFault(cause, 'read')}`, {
      hint: { technical: await wayTo(path) },
      cause,
    });
  }
}

/**
 * How the person can go on. Root has written the file if this user owns the folder: the daemon's
 * user. Root may read the file of the machine's own instance, also when its system user owns it.
 */
async function wayTo(path: string): Promise<string> {
  const own = process.geteuid?.();
  const folder = await stat(dirname(path)).catch(() => null);
  if (own !== undefined && folder?.uid === own)
    return `As root, run: chown ${own} ${shellWord(path)}`;
  return path === systemFile()
    ? `Run the command as root: sudo ${asTyped('idctl')} …. For an instance of your own, first run: export IDCTL_CONFIG=~/.config/idctl/idctl.yaml`
    : `Run idctl as the owner of ${path}, or name another file with --config`;
}

/** The settings in a configuration file. Adds refusals of bad YAML and names to `errors`. */
export function givenByFile(path: string, text: string, errors: Refusal[]): Map<string, Given> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    // One parse error causes further ones on its line, so keep only the first of each line.
    const byLine = new Map(
      document.errors.toReversed().map((fault) => [lines.linePos(fault.pos[0]).line, fault]),
    );
    for (const [line, fault] of [...byLine].toSorted(([one], [other]) => one - other))
      errors.push(inWords(fault, `${path} line ${line}`, text));
    return new Map();
  }
  const reader = {
    path,
    known: new Map(settings().map((setting) => [setting.key, setting])),
    lineOf: (node: unknown) =>
      isScalar(node) && node.range ? lines.linePos(node.range[0]).line : 1,
    valueOf: (node: Node | null) => node?.toJS(document),
    given: new Map<string, Given>(),
    errors,
  };
  if (isMap(document.contents)) readSection(reader, document.contents, '');
  else if (document.contents !== null && !isNothing(document.contents)) {
    errors.push(
      new Refusal(
        'config_invalid',
        `${path}: settings are expected, such as listen: 127.0.0.1:8420`,
      ),
    );
  }
  return reader.given;
}

/** The YAML parser's error codes as plain messages. */
const words: Record<string, string> = {
  BAD_INDENT: 'wrong indentation: the lines of a section must start in the same column',
  TAB_AS_INDENT: 'wrong indentation: use spaces, not tabs',
  BLOCK_AS_IMPLICIT_KEY: 'wrong indentation, or a second colon in the line',
  MULTILINE_IMPLICIT_KEY: 'wrong indentation, or a missing colon',
  MISSING_CHAR: 'a quotation mark, a bracket, a comma or a space is missing',
  UNEXPECTED_TOKEN: 'unexpected text; put the value in quotation marks',
  BAD_SCALAR_START: 'a value cannot start like this; put it in quotation marks',
  BAD_DQ_ESCAPE: 'a backslash in double quotation marks; use single quotation marks',
  BAD_ALIAS: 'a value cannot start like this; put it in quotation marks',
};

function inWords({ code, pos: [at] }: YAMLParseError, line: string, text: string): Refusal {
  // Shows only the name of a duplicate setting: other text in the file may be a secret.
  const name = /^[\w.-]+(?=\s*:)/.exec(text.slice(at))?.[0];
  return code === 'DUPLICATE_KEY' && name !== undefined
    ? new Refusal('config_invalid', `${line}: ${name} is set twice`, {
        hint: 'keep one of the two',
      })
    : new Refusal('config_invalid', `${line}: ${words[code] ?? 'the line is not valid YAML'}`);
}

interface Reader {
  path: string;
  known: Map<string, ReturnType<typeof settings>[number]>;
  lineOf: (node: unknown) => number;
  valueOf: (node: Node | null) => unknown;
  given: Map<string, Given>;
  errors: Refusal[];
}

function readSection(reader: Reader, section: YAMLMap<unknown, unknown>, prefix: string): void {
  for (const pair of section.items) {
    const name = isScalar(pair.key) ? String(pair.key.value) : '?';
    // The parser represents each value as a node or null.
    const value = pair.value as Node | null;
    const key = prefix + name;
    const where = `${reader.path} line ${reader.lineOf(pair.key)}: ${key}`;
    const setting = reader.known.get(key);
    if (setting !== undefined) {
      // A name without a value counts as absent.
      if (value === null || isNothing(value)) continue;
      const plain = reader.valueOf(value);
      const spelled =
        setting.kind === 'list' && typeof plain === 'string' ? typed(setting, plain) : plain;
      const written = absolute(setting, spelled, dirname(reader.path));
      reader.given.set(key, { value: written, origin: 'file', where });
      continue;
    }
    const inside = [...reader.known.keys()].filter((one) => one.startsWith(`${key}.`));
    if (inside.length === 0)
      reader.errors.push(refuseUnknown(where, key, withSections([...reader.known.keys()])));
    else if (isMap(value)) readSection(reader, value, `${key}.`);
    else if (value !== null && !isNothing(value)) {
      const holds = `${where} is a section: it contains ${inside.join(', ')}`;
      reader.errors.push(new Refusal('config_invalid', holds));
    }
  }
}

/** The keys, and the names of their sections, which may be mistyped too. */
function withSections(keys: string[]): string[] {
  return [
    ...keys,
    ...keys.flatMap((key) => [...key.matchAll(/\./g)].map(({ index }) => key.slice(0, index))),
  ];
}

function isNothing(node: Node): boolean {
  return isScalar(node) && node.value === null;
}
