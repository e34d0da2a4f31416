import { readFile } from 'node:fs/promises';
import { refuseField } from '../errors.ts';

/** The mappings of a file: CSV with the header `group,project,role`, or a YAML list of the same three. */
export async function readMappingFile(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw refuseField('file', `cannot be read (${error.code ?? error.message}): ${file}`);
  });
  try {
    return /\.ya?ml$/i.test(file) ? await readYaml(text) : await readCsv(text);
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw refuseField(
      'file',
      `is not what it should be: ${why}`,
      'CSV begins with the line: group,project,role',
    );
  }
}

async function readYaml(text: string): Promise<unknown> {
  const { parse } = await import('yaml');
  return parse(text) ?? [];
}

/** Group names keep their spaces: nothing is trimmed. */
async function readCsv(text: string): Promise<unknown> {
  const { parse } = await import('csv-parse/sync');
  const rows: string[][] = parse(text, { bom: true, relax_column_count: false, skip_empty_lines: true });
  const [header = [], ...rest] = rows;
  if (header.join() !== 'group,project,role')
    throw new Error(`its first line is ${JSON.stringify(header.join())}`);
  return rest.map(([group, project, role]) => ({ group, project, role }));
}
