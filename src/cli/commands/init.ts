import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import type { z } from 'zod';
import type { LoadedConfig } from '../../config/load.ts';
import { listenFor, systemFile } from '../../config/paths.ts';
import type { Config } from '../../config/schema.ts';
import { Refusal, type RefusalCode } from '../../errors.ts';
import { asTyped } from '../../host/typed-program.ts';
import type { initializedView } from '../../services/instance/setup/schema.ts';
import { verb } from '../command.ts';
import { giveToOwner } from '../file-owners.ts';
import { startCommand } from '../next.ts';
import {
  becomeOwnerOf,
  createFolder,
  databaseFile,
  findUser,
  openOperator,
  readConfiguration,
} from '../operator.ts';
import { type Fields, masked } from '../output.ts';
import { withProgress } from '../progress.ts';
import { canAsk } from '../prompt.ts';
import type { Call } from '../run.ts';

/** The configuration and files of an instance, before or after its setup. */
interface Site {
  loaded: LoadedConfig;
  configFile: string;
}

interface View extends z.output<typeof initializedView> {
  configFile: string;
  keyFile: string;
  database: string;
  baseUrl: string;
}

/** `without` is printed in place of a password that is not shown. */
const fields = (without: 'as given' | 'unchanged'): Fields<View> => [
  ['Configuration', (view) => view.configFile],
  ['Master key', (view) => view.keyFile],
  ['Database', (view) => view.database],
  ['Address', (view) => view.baseUrl],
  ['Organization', (view) => `${view.organization.name} (${view.organization.slug})`],
  ['Owner', (view) => view.owner.email],
  ['Password', (view) => view.owner.password ?? without],
];

export function addInitCommand(program: Command): void {
  verb(program, 'init', {
    summary: 'Set up an instance: configuration, key, database, first owner',
    options: {
      '--base-url <url>': 'where browsers reach idctl (default: the listen address)',
      '--database <url>': 'sqlite:FILE or postgres://USER@HOST/NAME (default: an SQLite file)',
      '--org <name>': 'the first organization (or IDCTL_ORG_NAME; default: Default)',
      '--owner <email>': 'its owner (or IDCTL_OWNER; default: admin@idctl.test)',
      '--owner-password-stdin': "read the owner's password from standard input",
      '--owner-password-file <file>':
        "read the owner's password from a file (default: idctl generates it)",
      '--smtp-url <url>': 'mail server, such as smtp://USER@HOST (default: no mail)',
      '--smtp-password-stdin': "read the mail server's password from standard input",
      '--smtp-password-file <file>': "read the mail server's password from a file",
    },
    example: "idctl init --org 'Acme Ltd' --owner ada@acme.com",
    run: init,
  });
}

async function init(call: Call): Promise<void> {
  const { initialize, requireFirstPassword } = await import(
    '../../services/instance/setup/initialize.ts'
  );
  const { initializeInput } = await import('../../services/instance/setup/schema.ts');
  const { parse } = await import('../../input.ts');
  const { setupAsked, setupGiven } = await import('../setup-questions.ts');
  const given = await setupGiven(call);
  parse(initializeInput, given.first);
  const there = await findSite(call, given.settings);
  const asks = there.loaded.file === null && !call.flags.yes && canAsk();
  const setup = asks ? await setupAsked(call, given, there.loaded) : given;
  const first = parse(initializeInput, setup.first);
  const site = asks ? await findSite(call, setup.settings) : there;
  const { config, file } = site.loaded;
  const view = { ...pathsIn(site), baseUrl: config.baseUrl };
  if (file === null) {
    await requireFirstPassword(config, first);
    if (!call.flags.yes) call.note(foretold(view));
    // Enter means yes: the setup destroys nothing, and a no would discard the answers.
    await call.confirm('Set up an instance there?', true);
  }
  await prepare(site);
  const operator = await withProgress(() => openWithKey(site.loaded), !call.flags.quiet);
  try {
    if (file === null) {
      const { renderConfig } = await import('../../config/write.ts');
      const text = renderConfig(reachable(site.loaded, setup.settings));
      // Write the file only now: before, it was not known whether the key and the database work.
      await writeFile(site.configFile, text, { flag: 'wx', mode: 0o600 });
    }
    const { created, ...made } = await operator.run((ctx) => initialize(ctx, first));
    const given = created && first.password !== undefined;
    call.show<View>({ ...view, ...made }, fields(given ? 'as given' : 'unchanged'));
    if (!created)
      call.note(
        'This instance is already set up. Its organizations and accounts were not changed.',
      );
  } finally {
    await operator.app.close();
  }
  call.note(next(call, file === null, site));
}

function foretold({ configFile, keyFile, database }: ReturnType<typeof pathsIn>): string {
  return `Configuration ${configFile}\nMaster key    ${keyFile}\nDatabase      ${database}`;
}

async function findSite(call: Call, options: Record<string, string>): Promise<Site> {
  const loaded = await readConfiguration(call.flags, { mayBeMissing: true, overrides: options });
  if (loaded.file === null) {
    const { defaultPaths } = await import('../../config/paths.ts');
    const named = call.flags.config ?? (process.env['IDCTL_CONFIG'] || undefined);
    const { configFile } = defaultPaths(process.env, process.getuid?.() ?? -1);
    return { loaded, configFile: named === undefined ? configFile : resolve(named) };
  }
  await requireUnchanged(call, loaded, loaded.file);
  return { loaded, configFile: loaded.file };
}

/** Refuses settings that differ from an existing configuration: `init` never changes one. */
async function requireUnchanged(call: Call, loaded: LoadedConfig, file: string): Promise<void> {
  const { config } = await readConfiguration(call.flags);
  const asked = ({ baseUrl, database, mail }: Config) => ({
    baseUrl,
    'database.url': database.url,
    'mail.smtpUrl': mail.smtpUrl,
  });
  const before = Object.entries(asked(config));
  const after = Object.values(asked(loaded.config));
  const others = before.filter(([, value], at) => value !== after[at]).map(([key]) => key);
  if (others.length === 0) return;
  const message = `${file} already exists, with a different ${others.join(' and ')}.`;
  throw new Refusal('conflict', message, {
    hint: { technical: `Edit ${file}: idctl init does not change a configuration.` },
  });
}

function pathsIn({ loaded: { config }, configFile }: Site) {
  return { configFile, keyFile: config.keyFile, database: masked(config.database.url) };
}

/** Creates the missing folders, and switches to the user that will run the daemon. */
async function prepare({ loaded, configFile }: Site): Promise<void> {
  const { config } = loaded;
  const system = process.getuid?.() === 0 && configFile === systemFile();
  const embedded = databaseFile(config.database.url);
  const folders = [configFile, config.keyFile, ...(embedded === null ? [] : [embedded])].map(
    (path) => dirname(path),
  );
  for (const folder of new Set(folders))
    await createFolder(folder, system ? findUser('idctl') : null);
  if (loaded.file !== null && !existsSync(config.keyFile))
    await giveToOwner(loaded.file, config.keyFile);
  becomeOwnerOf(config.keyFile);
}

/** Adds `listen` to the settings if the base URL alone determines it. */
function reachable({ config, origins }: LoadedConfig, settings: Record<string, string>) {
  const listen = settings['baseUrl'] === undefined ? null : listenFor(config.baseUrl);
  const chosen = origins.get('listen') !== 'default';
  return chosen || listen === null || listen === config.listen ? settings : { ...settings, listen };
}

/** Refusals that occur before anything is sealed with the key. */
const beforeSealing: RefusalCode[] = [
  'key_invalid',
  'database_unreachable',
  'database_moved',
  'not_ready',
  'schema_newer',
  'conflict',
];

/** Opens the instance. Creates a missing key, and removes it if opening fails before any use. */
async function openWithKey(loaded: LoadedConfig) {
  const { ensureKeyFile } = await import('../../services/instance/setup/key.ts');
  const key = await ensureKeyFile(loaded.config.keyFile);
  try {
    return await openOperator(loaded, {});
  } catch (error) {
    if (error instanceof Refusal && beforeSealing.includes(error.code)) await key.takeBack();
    throw error;
  }
}

function next(call: Call, made: boolean, { loaded, configFile }: Site): string {
  const { keyFile } = loaded.config;
  const advice = `Keep a copy of ${keyFile}\napart from the backups: no backup opens without this key.\n`;
  return `${made ? advice + unstored(loaded, configFile) : ''}Next: ${firstStart(call, configFile)}`;
}

/** Without this, the next command would look for an SQLite file. */
function unstored({ origins, wheres }: LoadedConfig, configFile: string): string {
  if (origins.get('database.url') !== 'environment') return '';
  const variable = wheres.get('database.url');
  return `Set ${variable} for the daemon and each command too, or write database.url\nto ${configFile}.\n`;
}

/** A unit that has been started once also starts at boot. */
function firstStart({ here }: Call, configFile: string): string {
  const command = startCommand(process.env, configFile);
  return command === 'idctl serve' ? here(command) : asTyped('systemctl enable --now idctl');
}
