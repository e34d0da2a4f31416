import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect } from 'vitest';
import { typedProgram } from './daemon.ts';

// A transcript is what a terminal shows. A line that begins with `$ ` is typed into sh; the lines after it
// are its standard output, those that begin with `! ` its standard error, and `[N]` its exit code when
// that is not 0. Lines that begin with `#`, and empty lines before a `$`, are for the reader. In what is expected,
// `{uuid}`, `{time}` and `{any}` stand for what differs each time; `{uuid=name}` also keeps it, for `{name}` later.

/** How long one command may take, in milliseconds, before it counts as hung. */
const patience = 40_000;

/** One command of a transcript and what it should give. */
interface Step {
  line: number;
  command: string;
  expected: string[];
}

/** What a command gave, in the form in which a transcript expects it. */
type Seen = string[];

const patterns: Record<string, string> = {
  uuid: '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}',
  time: '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z',
  any: '.*',
};

/** The steps of the transcript in this file. */
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

/** A terminal in an empty folder, with `idctl` on its path and a configuration of its own. */
interface Terminal {
  run(step: Step): Promise<{ expected: Seen; seen: Seen }>;
  /** Ends what still runs in it and removes its folder. */
  close(): Promise<void>;
}

interface Surroundings {
  /** More environment. */
  env?: Record<string, string>;
  /** What placeholders stand for from the start. */
  values?: Record<string, string>;
  /** Commands that are not programs: what they answer is their output. */
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
      const seen = own ? lines(await own(...words)) : await shell(typed, folder, variables, groups);
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

function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It has ended by itself, as most have.
  }
}

async function shell(
  command: string,
  cwd: string,
  env: Record<string, string>,
  groups: number[],
): Promise<Seen> {
  // A process group of its own, so that what it leaves in the background can be ended.
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

/** What is expected, with each placeholder that fits replaced by what was seen, so that a difference reads well. */
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

/** Types a transcript into a terminal of its own and holds it to what it says. */
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
