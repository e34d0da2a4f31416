import { readFile } from 'node:fs/promises';
import { Refusal, refuseField } from '../errors.ts';
import { accessHint, fileFault } from '../host/file-fault.ts';

/** Whether there is a terminal for questions. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks for confirmation; Enter means `usual`. Refuses after a no, or without a terminal. */
export async function confirmed(question: string, usual = false): Promise<void> {
  if (!canAsk()) {
    throw new Refusal(
      'invalid_input',
      'This command needs a confirmation, but there is no terminal.',
      { hint: `${question} Add --yes to confirm.` },
    );
  }
  const { confirm } = await import('@inquirer/prompts');
  const agreed = await asked((context) => confirm({ message: question, default: usual }, context));
  if (!agreed) throw new Refusal('not_confirmed', 'Nothing was changed.');
}

/** The source of a secret: `--<name>-stdin`, `--<name>-file F`, or none. */
interface SecretSource {
  name:
    | 'secret'
    | 'password'
    | 'token'
    | 'bind-password'
    | 'smtp-password'
    | 'owner-password'
    | 'recovery-code';
  stdin: unknown;
  file: unknown;
  /** The variable that names the file, if no option does. */
  variable?: string;
}

/** Reads the secret from standard input or a file; undefined if neither was named. */
export async function givenSecret(source: SecretSource): Promise<string | undefined> {
  const { name, stdin, file, variable } = source;
  if (stdin === true && file !== undefined) {
    throw refuseField(`--${name}-file`, `cannot be combined with --${name}-stdin`);
  }
  if (stdin === true) return cleaned(await readStandardInput(), `--${name}-stdin`);
  if (typeof file === 'string') return readSecretFile(`--${name}-file`, file);
  const named = variable === undefined ? undefined : process.env[variable];
  return variable !== undefined && named ? readSecretFile(variable, named) : undefined;
}

async function readSecretFile(field: string, path: string): Promise<string> {
  return cleaned(await readNamedFile(field, path), field);
}

/** Reads the secret from its source, else from a prompt that hides it. */
export async function secretOrAsk(
  source: SecretSource,
  label: string,
  twice = false,
): Promise<string> {
  const given = await givenSecret(source);
  if (given !== undefined) return given;
  if (!canAsk())
    throw refuseField(
      `--${source.name}-stdin`,
      'is required, because there is no terminal to ask on',
    );
  const first = await askSecret(label);
  if (twice && (await askSecret(`${label} again`)) !== first) {
    throw refuseField(source.name, 'differs from the first entry');
  }
  return first;
}

/** Asks for a secret without showing it. */
export async function askSecret(message: string): Promise<string> {
  const { password } = await import('@inquirer/prompts');
  return asked((context) => password({ message, mask: '*' }, context));
}

/** Asks for a line until `fault` returns null for it; an empty answer means `usual`. */
export async function askText(
  message: string,
  usual: string,
  fault: (text: string) => Promise<string | null>,
): Promise<string> {
  const { input } = await import('@inquirer/prompts');
  const validate = async (text: string) => (await fault(text.trim())) ?? true;
  return (await asked((context) => input({ message, default: usual, validate }, context))).trim();
}

/** Asks for a code of an authenticator app until the answer has six digits. */
export async function askCode(message: string): Promise<string> {
  const { input } = await import('@inquirer/prompts');
  const validate = (text: string) => /^[0-9]{6}$/.test(text.trim()) || 'Enter six digits.';
  return (await asked((context) => input({ message, validate }, context))).trim();
}

interface PromptContext {
  output: NodeJS.WritableStream;
  signal: AbortSignal;
}

/**
 * Asks on stderr, and makes Ctrl-D end the question like Ctrl-C. At Ctrl-D, readline stops reading
 * without telling inquirer, so the promise would stay unsettled.
 */
async function asked<T>(ask: (context: PromptContext) => Promise<T>): Promise<T> {
  const left = new AbortController();
  const leave = () => setImmediate(() => left.abort());
  process.stdin.once('pause', leave);
  try {
    return await ask({ output: process.stderr, signal: left.signal });
  } finally {
    process.stdin.off('pause', leave);
  }
}

/** Reads all of standard input. */
export async function readStandardInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** Removes one line break at the end, because editors and `echo` add it. */
function cleaned(bytes: Buffer, flag: string): string {
  const text = bytes.toString('utf8').replace(/\r?\n$/, '');
  if (text === '') throw refuseField(flag, 'is empty');
  if (text.includes('\ufffd')) throw refuseField(flag, 'is not UTF-8 text');
  return text;
}

/** Reads a file that the command line names; the refusal names the field or flag, and the fault. */
export async function readNamedFile(field: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw refuseField(field, `${path} ${fileFault(cause, 'read')}`, accessHint(cause));
  }
}
