import { type InputFault, moreWords, Refusal, refuseField } from '../errors.ts';
import { csvOf, meantBy } from '../text/csv.ts';
import { readNamedFile, readStandardInput } from './prompt.ts';

/** The mappings in a file, and a line of each: where a YAML item begins, or a CSV row ends. */
interface MappingFile {
  mappings: unknown;
  lines: number[];
}

interface Row {
  group: string;
  project?: string;
  role?: string;
  orgRole?: string;
}

const header = ['group', 'project', 'role'];
const wideHeader = [...header, 'orgRole'];

/**
 * Reads mappings. A .yaml or .yml file is a list. Any other file, and standard input (`-`), is CSV
 * with the header above. The column `orgRole` is optional.
 */
export async function readMappingFile(file: string): Promise<MappingFile> {
  const bytes = file === '-' ? await readStandardInput() : await readNamedFile('file', file);
  const text = bytes.toString('utf8');
  try {
    return /\.ya?ml$/i.test(file) ? await readYaml(text) : await readCsv(text);
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw refuseField(
      'file',
      `is not a list of mappings: ${why}`,
      'CSV must begin with the line group,project,role; YAML must be a list. See idctl mappings import --help',
    );
  }
}

/** Writes the mappings as CSV, which `readMappingFile` reads back exactly. */
export async function writeMappingFile(mappings: readonly Row[]): Promise<string> {
  const names = mappings.some(({ orgRole }) => orgRole !== undefined) ? wideHeader : header;
  const rows = mappings.map(({ group, project = '', role = '', orgRole = '' }) =>
    [group, project, role, orgRole].slice(0, names.length),
  );
  return csvOf([names, ...rows]);
}

/** Replaces list positions in the refusal of an import with line numbers. */
export function inFile(error: unknown, { lines }: MappingFile): unknown {
  if (!(error instanceof Refusal) || error.faults.length === 0) return error;
  const faults = error.faults.map(({ path, message }): InputFault => {
    const [, at = '', field = ''] = /^mappings\.(\d+)(?:\.(.+))?$/.exec(path) ?? [];
    const line = lines[Number(at)];
    if (at === '' || line === undefined) return { path, message };
    return { path: `line ${line}${field && `, ${field}`}`, message };
  });
  const { code, hint, moreFaults } = error;
  const words = faults.map((fault) => `${fault.path}: ${fault.message}`);
  const message = [...words, ...moreWords(moreFaults)].join('; ');
  return new Refusal(code, message, { faults, hint, moreFaults });
}

/** Adds the service's faults of the other lines, so that one refusal names every bad line. */
export async function faultsOfOthers(
  error: unknown,
  mappings: unknown,
  rehearse: (others: unknown[]) => Promise<unknown>,
): Promise<unknown> {
  if (!(error instanceof Refusal) || error.code !== 'invalid_input' || !Array.isArray(mappings))
    return error;
  const at = (path: string) => Number(/^mappings\.(\d+)/.exec(path)?.[1] ?? Number.NaN);
  const bad = new Set(error.faults.map(({ path }) => at(path)));
  if (bad.size === 0 || bad.has(Number.NaN) || error.moreFaults > 0) return error;
  const good = [...mappings.keys()].filter((index) => !bad.has(index));
  const others = await rehearse(good.map((index) => mappings[index])).then(
    () => [],
    (refusal: unknown) => (refusal instanceof Refusal ? refusal.faults : []),
  );
  const moved = others.map(({ path, message }) => ({
    path: path.replace(/^mappings\.(\d+)/, (_, index) => `mappings.${good[Number(index)]}`),
    message,
  }));
  const faults = [...error.faults, ...moved].toSorted(
    (one, other) => at(one.path) - at(other.path),
  );
  return new Refusal(error.code, error.message, { faults });
}

async function readYaml(text: string): Promise<MappingFile> {
  const { isSeq, LineCounter, parseDocument } = await import('yaml');
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const [fault] = document.errors;
  if (fault !== undefined) throw fault;
  const { contents } = document;
  if (contents === null) return { mappings: [], lines: [] };
  if (!isSeq<{ range?: [number, number, number] }>(contents)) throw new Error('it is not a list');
  const lines = contents.items.map((item) => counter.linePos(item?.range?.[0] ?? 0).line);
  return { mappings: document.toJS(), lines };
}

/** Reads CSV without trimming, because group names may begin or end with a space. */
async function readCsv(text: string): Promise<MappingFile> {
  const { parse } = await import('csv-parse/sync');
  // With `info`, each row has the line on which it ends, which the library's types omit.
  const rows = parse(text, {
    bom: true,
    skip_empty_lines: true,
    info: true,
    // Reports every line with a wrong number of columns, not only the first.
    relax_column_count: true,
  }) as unknown as Line[];
  const [first, ...rest] = rows;
  const isWide = first?.record.join() === wideHeader.join();
  if (!isWide && first?.record.join() !== header.join())
    throw new Error(`its first line is ${JSON.stringify(first?.record.join() ?? '')}`);
  const mappings = rest.map(({ record }) => {
    const [group, project, role, ...more] = record.map(meantBy);
    const surplus = more.slice(isWide ? 1 : 0);
    const extra = surplus.length === 0 ? {} : { [`column ${isWide ? 5 : 4}`]: surplus[0] };
    if (!isWide || !more[0]) return { group, project, role, ...extra };
    // A mapping to an organization role does not have a project or a project role, so drop empty
    // cells.
    const beside = { ...(project && { project }), ...(role && { role }) };
    return { group, ...beside, orgRole: more[0], ...extra };
  });
  return { mappings, lines: rest.map(({ info }) => info.lines) };
}

interface Line {
  record: string[];
  info: { lines: number };
}
