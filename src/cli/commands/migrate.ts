import type { Command } from 'commander';
import { verb } from '../command.ts';
import { openOperator, readConfiguration } from '../operator.ts';
import { withProgress } from '../progress.ts';

export function addMigrateCommand(program: Command): void {
  verb(program, 'migrate', {
    summary: 'Update the database schema to this version of idctl',
    detail:
      'While another release of idctl is using the database, pending migrations are refused. --yes applies them anyway.',
    example: 'idctl migrate',
    run: async (call) => {
      const applied: string[] = [];
      const loaded = await readConfiguration(call.flags);
      await withProgress(async () => {
        const { app } = await openOperator(loaded, {
          besideOthers: call.flags.yes,
          migrated: (name) => applied.push(name),
        });
        await app.close();
      }, !call.flags.quiet);
      if (call.flags.json) call.show({ applied }, []);
      for (const name of applied) call.note(`Applied ${name}.`);
      call.note('The database is up to date.');
    },
  });
}
