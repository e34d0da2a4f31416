import { vi } from 'vitest';
import { main } from '../../src/cli/program.ts';

/** The result of a command line. */
export interface Typed {
  exit: number;
  out: string;
  err: string;
}

/** Runs one command line in this process, with `env` as the only settings in its environment. */
export async function typeLine(
  words: string[],
  env: Record<string, string | undefined>,
): Promise<Typed> {
  for (const name of Object.keys(process.env))
    if (name.startsWith('IDCTL_') || name.startsWith('XDG_')) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  let [out, err] = ['', ''];
  const written = [
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      out += text;
      return true;
    }),
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      err += text;
      return true;
    }),
  ];
  try {
    return { exit: await main(words), out, err };
  } finally {
    for (const spy of written) spy.mockRestore();
    vi.unstubAllEnvs();
  }
}
