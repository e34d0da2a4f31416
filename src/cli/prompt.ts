import { readFile } from 'node:fs/promises';
import { Refusal, refuseField } from '../errors.ts';

/** Whether a person is there to be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks before something cannot be undone; refuses when the answer is no, or nobody is there to answer. */
export async function confirmed(question: string): Promise<void> {
  if (!canAsk()) throw refuseField('--yes', 'is needed where nobody can be asked', question);
  const { confirm } = await import('@inquirer/prompts');
  const agreed = await confirm({ message: question, default: false }, { output: process.stderr });
  if (!agreed) throw new Refusal('not_confirmed', 'nothing was changed');
}

/** Where a secret may come from: `--<name>-stdin`, `--<name>-file F`, or a prompt. */
interface SecretSource {
  name: 'secret' | 'password';
  /** What the prompt calls it. */
  label: string;
  stdin: boolean;
  file?: string | undefined;
  /** Ask twice, for a secret that is being chosen. */
  twice?: boolean;
}

/** The secret as given by standard input or a file; undefined when neither was named. */
export async function givenSecret(source: SecretSource): Promise<string | undefined> {
  if (source.stdin && source.file !== undefined) {
    throw refuseField(`--${source.name}-file`, `cannot be combined with --${source.name}-stdin`);
  }
  if (source.file !== undefined)
    return cleaned(await readSecretFile(source, source.file), `--${source.name}-file`);
  if (source.stdin) return cleaned(await readStandardInput(), `--${source.name}-stdin`);
  return undefined;
}

/** The secret from wherever it was given, else from a prompt that does not show it. */
export async function secretOrAsk(source: SecretSource): Promise<string> {
  const given = await givenSecret(source);
  if (given !== undefined) return given;
  if (!canAsk()) throw refuseField(`--${source.name}-stdin`, 'is needed where nobody can be asked');
  const { password } = await import('@inquirer/prompts');
  const ask = (message: string): Promise<string> => {
    return password({ message, mask: '*' }, { output: process.stderr });
  };
  const first = await ask(source.label);
  if (source.twice && (await ask(`${source.label} again`)) !== first) {
    throw refuseField(source.name, 'was not the same the second time');
  }
  return first;
}

async function readSecretFile(source: SecretSource, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw refuseField(`--${source.name}-file`, `cannot be read (${reason}): ${file}`);
  }
}

async function readStandardInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** Without the one newline that editors and `echo` add. */
function cleaned(bytes: Buffer, flag: string): string {
  const text = bytes.toString('utf8').replace(/\r?\n$/, '');
  if (text === '') throw refuseField(flag, 'holds nothing');
  if (text.includes('\ufffd')) throw refuseField(flag, 'is not UTF-8 text');
  return text;
}
