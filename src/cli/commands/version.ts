import type { Command } from 'commander';
import { refuseField } from '../../errors.ts';
import { verb } from '../command.ts';

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

export function addCompletionCommand(program: Command): void {
  verb(program, 'completion <shell>', {
    summary: 'Print the completion script for bash, zsh or fish',
    example: 'idctl completion bash > idctl.bash && . ./idctl.bash',
    run: async (call) => {
      const { scripts } = await import('../complete/scripts.ts');
      const { shell } = call.input;
      if (shell !== 'bash' && shell !== 'zsh' && shell !== 'fish') {
        throw refuseField('shell', 'must be bash, zsh or fish');
      }
      if (call.flags.json) call.show({ shell, script: scripts[shell] }, []);
      else call.print(scripts[shell]);
    },
  });
}
