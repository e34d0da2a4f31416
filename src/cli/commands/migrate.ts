import type { Command } from 'commander';
import { verb } from '../command.ts';
import { openOperator, readConfiguration } from '../operator.ts';

/** Declares `idctl migrate`. */
export function addMigrateCommand(program: Command): void {
  verb(program, 'migrate', {
    summary: 'Bring the database up to this version of idctl',
    example: 'idctl migrate',
    run: async (call) => {
      const { app } = await openOperator(await readConfiguration(call.flags), true);
      await app.close();
      call.note('The database is up to date.');
    },
  });
}
