import { createProgram } from '../../src/cli/program.ts';
import { readVersion } from '../../src/version.ts';
import { groupPage } from './commands.ts';
import { programPage } from './program.ts';
import { settingsPage } from './settings.ts';

/** Every manual page by its file name, made from the commands and the settings. */
export async function manualPages(): Promise<Map<string, string>> {
  const program = await createProgram();
  const version = readVersion();
  const groups = program.commands.filter(({ commands }) => commands.length > 0);
  return new Map([
    ['idctl.1', programPage(program, version)],
    ...groups.map((group): [string, string] => [
      `idctl-${group.name()}.1`,
      groupPage(group, version),
    ]),
    ['idctl.yaml.5', settingsPage(version)],
  ]);
}
