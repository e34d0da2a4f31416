import { basename } from 'node:path';
import type { Command } from 'commander';
import { unitCredentials } from '../../config/unit-credentials.ts';
import { noun, verb } from '../command.ts';
import { warnOfFileOwners } from '../file-owners.ts';
import { readConfiguration } from '../operator.ts';
import { type Fields, masked } from '../output.ts';
import type { Call } from '../run.ts';

export function addConfigCommands(program: Command): void {
  const config = noun(program, 'config', {
    summary: 'The configuration in use',
    example: 'idctl config show',
  });
  verb(config, 'show', {
    summary: 'Print every setting, its value and where it comes from',
    options: { '--origin': 'also name the line or the variable that sets each value' },
    example: 'idctl config show --origin',
    run: show,
  });
  verb(config, 'check', {
    summary: 'Check the configuration and the key file; exit 2 or 3 on a fault',
    example: 'idctl config check --config ./idctl.yaml',
    run: check,
  });
}

async function show(call: Call): Promise<void> {
  const loaded = await readConfiguration(call.flags);
  const { settingIn, settings } = await import('../../config/setting-list.ts');
  const exact = call.input['origin'] === true;
  const views = settings().map(({ key, secret }) => ({
    key,
    value: shown(settingIn(loaded.config, key), secret),
    origin: loaded.origins.get(key) ?? 'default',
    ...(exact ? { where: loaded.wheres.get(key) ?? null } : {}),
  }));
  call.note(
    loaded.file === null
      ? 'There is no configuration file. Only defaults and the environment apply.'
      : `From ${loaded.file}`,
  );
  const fields: Fields<View> = [
    ['Key', (view) => view.key, 'whole'],
    ['From', (view) => shortened(view.where, loaded.file) ?? view.origin, 'whole'],
    ['Value', shownText, 'broken'],
  ];
  call.table(views, fields, 'There are no settings.');
}

async function check(call: Call): Promise<void> {
  const loaded = await readConfiguration(call.flags);
  const { checkKeyFile } = await import('../../services/instance/setup/key.ts');
  const { keyFile } = loaded.config;
  const missing = (await checkKeyFile(keyFile))
    ? null
    : `the master key ${keyFile} does not exist; idctl init creates one for a new instance`;
  const unseen = await unseenCredentials();
  const unowned = await warnOfFileOwners(loaded);
  const warnings = [...loaded.warnings, ...unowned, missing, unseen].filter(
    (warning) => warning !== null,
  );
  for (const warning of warnings) call.note(`warning: ${warning}`);
  call.show({ ok: true, file: loaded.file, warnings }, [
    ['Valid', (view) => view.ok],
    ['File', (view) => view.file],
  ]);
}

/**
 * A warning that this command cannot check systemd credentials; null if the unit does not have any.
 */
async function unseenCredentials(): Promise<string | null> {
  const names = await unitCredentials(process.env);
  if (names.length === 0) return null;
  return `idctl.service passes ${names.join(', ')} as systemd credentials. Only the daemon can read and check them.`;
}

interface View {
  key: string;
  value: unknown;
  origin: string;
  /** The line or the variable that sets the value; null for a default. Only with `--origin`. */
  where?: string | null;
}

/** Leaves out the folder of the configuration file, because the note above the table names it. */
function shortened(where: string | null | undefined, file: string | null): string | null {
  if (where === null || where === undefined || file === null) return where ?? null;
  return where.startsWith(`${file} `) ? `${basename(file)}${where.slice(file.length)}` : where;
}

function shownText({ value }: View): string | null {
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? value.join(', ') : String(value);
}

function shown(value: unknown, secret: boolean): unknown {
  return secret && typeof value === 'string' ? masked(value) : (value ?? null);
}
