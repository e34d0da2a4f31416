import type { Command } from 'commander';
import { verb } from '../command.ts';

/** Declares `idctl version`. */
export function addVersionCommand(program: Command): void {
  verb(program, 'version', {
    summary: 'Print the version',
    example: 'idctl version',
    run: async (call) => {
      const { readVersion } = await import('../../version.ts');
      const version = readVersion();
      if (call.flags.json) call.show({ version }, []);
      else process.stdout.write(`${version}\n`);
    },
  });
}
