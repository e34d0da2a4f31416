import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect } from 'vitest';
import { typedProgram } from './daemon.ts';
import { long } from './scim.ts';
import { typeLine } from './typing.ts';

// A transcript is the text of a terminal. A line that begins with `$ ` is typed into sh. The lines
// after it are its standard output; lines with `! ` are its standard error, and `[N]` is its exit
// code if that is not 0. Lines that begin with `#`, and empty lines before a `$`, are for the
// reader. In the expected lines, `{uuid}`, `{time}` and `{any}` match text that differs each time;
// `{uuid=name}` also keeps it, for `{name}` later.

/** The time in milliseconds after which a command counts as hung. */
const patience = 40_000;

/** One command of a transcript and its expected result. */
interface Step {
  line: number;
  command: string;
  expected: string[];
}

/** The result of a command, in the form of a transcript. */
type Seen = string[];

const patterns: Record<string, string> = {
  uuid: '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}',
  time: '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z',
  any: '.*',
};

/** Reads the steps of the transcript in this file. */
async function readTranscript(path: string): Promise<Step[]> {
  const text = await readFile(path, 'utf8');
  const steps: Step[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    if (line.startsWith('$ ')) steps.push({ line: at + 1, command: line.slice(2), expected: [] });
    else if (!line.startsWith('#')) steps.at(-1)?.expected.push(line);
  }
  for (const step of steps) while (step.expected.at(-1) === '') step.expected.pop();
  return steps;
}

/** A terminal in a new folder, with `idctl` on its path and its own configuration. */
interface Terminal {
  run(step: Step): Promise<{ expected: Seen; seen: Seen }>;
  /** Kills the processes that still run in it, and removes its folder. */
  close(): Promise<void>;
}

interface Surroundings {
  /** Additional environment variables. */
  env?: Record<string, string>;
  /** The initial values of placeholders. */
  values?: Record<string, string>;
  /** Commands that are functions, not programs; each returns its output. */
  commands?: Record<string, (...words: string[]) => Promise<string>>;
}

/** Opens a terminal for one transcript. */
async function openTerminal({ env, values, commands }: Surroundings = {}): Promise<Terminal> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-transcript-'));
  await installIdctl(join(folder, 'bin'));
  const kept = new Map(Object.entries({ folder, ...values }));
  const groups: number[] = [];
  const variables = {
    PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH']}`,
    HOME: folder,
    SUDO_USER: 'alex',
    IDCTL_CONFIG: join(folder, 'idctl.yaml'),
    ...env,
  };
  return {
    run: async ({ command, expected }) => {
      const typed = fill(command, kept);
      const [name = '', ...words] = typed.split(' ');
      const own = commands?.[name];
      const typedWords = long ? null : plainWords(typed);
      const seen = own
        ? lines(await own(...words))
        : typedWords
          ? await inProcess(typedWords, folder, variables)
          : await shell(typed, folder, variables, groups);
      return { seen, expected: match(expected, seen, kept) };
    },
    close: async () => {
      for (const group of groups) endGroup(group);
      await rm(folder, { recursive: true });
    },
  };
}

async function installIdctl(bin: string): Promise<void> {
  await mkdir(bin);
  const script = `#!/bin/sh\nexec ${typedProgram} "$@"\n`;
  await writeFile(join(bin, 'idctl'), script, { mode: 0o755 });
}

const word = /'[^']*'|"[^"$`\\]*"|[^\s'"|&;<>$`\\(){}*?~#!]+/g;
const plain = new RegExp(`^idctl(?:\\s+(?:${word.source}))*$`);

/** The words after `idctl` of a command that does not need a shell; null for any other command. */
function plainWords(command: string): string[] | null {
  if (!plain.test(command)) return null;
  const words = command.match(word) ?? [];
  return words.slice(1).map((given) => given.replace(/^(['"])(.*)\1$/, '$2'));
}

/**
 * Runs a command in this process, which takes a tenth of the time. `npm run test:long` starts every
 * command as a process of the release.
 */
async function inProcess(words: string[], cwd: string, env: Record<string, string>): Promise<Seen> {
  const before = process.cwd();
  process.chdir(cwd);
  try {
    const { exit, out, err } = await typeLine(words, env);
    const errors = lines(err).map((line) => `! ${line}`);
    return [...lines(out), ...errors, ...(exit === 0 ? [] : [`[${exit}]`])];
  } finally {
    process.chdir(before);
  }
}

function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // The process group has ended by itself, as most have.
  }
}

async function shell(
  command: string,
  cwd: string,
  env: Record<string, string>,
  groups: number[],
): Promise<Seen> {
  // Starts a process group, so that `close` can kill the command's background processes.
  const child = spawn('/bin/sh', ['-c', command], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  if (child.pid !== undefined) groups.push(child.pid);
  const hung = setTimeout(() => child.pid !== undefined && endGroup(child.pid), patience);
  const [out, err] = [text(child.stdout), text(child.stderr)];
  const code = await new Promise<number | null>((done, fail) =>
    child.once('error', fail).once('close', done),
  );
  clearTimeout(hung);
  const errors = lines(await err).map((line) => `! ${line}`);
  return [...lines(await out), ...errors, ...(code === 0 ? [] : [`[${code}]`])];
}

async function text(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function lines(output: string): string[] {
  return output === '' ? [] : output.replace(/\n$/, '').split('\n');
}

/**
 * The expected lines, with each placeholder that matches replaced by the seen text, so that a
 * difference is readable.
 */
function match(expected: string[], seen: Seen, kept: Map<string, string>): string[] {
  return expected.map((line, at) => {
    const found = pattern(line, kept).exec(seen[at] ?? '');
    for (const [name, value] of Object.entries(found?.groups ?? {})) kept.set(name, value);
    return found?.[0] ?? fill(line, kept);
  });
}

function pattern(line: string, kept: Map<string, string>): RegExp {
  const parts = fill(line, kept).split(/(\{(?:uuid|time|any)(?:=\w+)?\})/);
  const sources = parts.map((part) => {
    const [, kind, name] = /^\{(uuid|time|any)(?:=(\w+))?\}$/.exec(part) ?? [];
    if (kind === undefined) return part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    return name === undefined ? `(?:${patterns[kind]})` : `(?<${name}>${patterns[kind]})`;
  });
  return new RegExp(`^${sources.join('')}$`);
}

function fill(line: string, kept: Map<string, string>): string {
  return line.replace(/\{(\w+)\}/g, (placeholder, name) => kept.get(name) ?? placeholder);
}

/** Types a transcript into a new terminal, and expects the results that it shows. */
export async function playTranscript(path: string, surroundings: Surroundings): Promise<void> {
  const terminal = await openTerminal(surroundings);
  try {
    for (const step of await readTranscript(path)) {
      const { seen, expected } = await terminal.run(step);
      expect(seen, `line ${step.line}: ${step.command}`).toEqual(expected);
    }
  } finally {
    await terminal.close();
  }
}
