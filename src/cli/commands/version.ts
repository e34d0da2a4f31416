import type { Command } from 'commander';
import { verb } from '../command.ts';

/** Declares `idctl version`. */
export function addVersionCommand(program: Command): void {
  verb(program, 'version', {
    summary: 'Print the version, with the commit and the date of the build',
    example: 'idctl version',
    run: async (call) => {
      const { readBuild, readVersion, versionText } = await import('../../version.ts');
      const { commit, date } = readBuild();
      if (call.flags.json) call.show({ version: readVersion(), commit, date }, []);
      else process.stdout.write(`${versionText()}\n`);
    },
  });
}
