import type { z } from 'zod';
import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { Refusal, refuseField, withReason } from '../errors.ts';
import { initializeInput } from '../services/instance/setup/schema.ts';
import { escaped } from '../text/escape.ts';
import { databaseFile, readConfiguration } from './operator.ts';
import { holdsPassword } from './output.ts';
import { withProgress } from './progress.ts';
import { askSecret, askText, givenSecret } from './prompt.ts';
import type { Call } from './run.ts';

/** The input of `init`, from its options or from answers. */
export interface Setup {
  /** The settings to write into the file, by key. `init` may add `listen`. */
  settings: Record<string, string>;
  /** The first organization and its owner, not yet checked. */
  first: { organization?: unknown; owner?: unknown; password?: string | undefined };
}

/** Reads the input from the options. The first organization and owner may be in the environment. */
export async function setupGiven(call: Call): Promise<Setup> {
  const { baseUrl, database, smtpUrl, smtpPasswordStdin, smtpPasswordFile } = call.input;
  if (smtpPasswordStdin === true && call.input['ownerPasswordStdin'] === true)
    throw refuseField('--owner-password-stdin', 'cannot be combined with --smtp-password-stdin');
  const password = await givenSecret({
    name: 'smtp-password',
    stdin: smtpPasswordStdin,
    file: smtpPasswordFile,
  });
  if (password !== undefined && smtpUrl === undefined)
    throw refuseField('--smtp-url', 'is required, because a mail password is given');
  return {
    settings: {
      ...(typeof baseUrl === 'string' ? { baseUrl } : {}),
      ...(typeof database === 'string' ? { 'database.url': withoutPassword(database) } : {}),
      ...(typeof smtpUrl === 'string' ? { 'mail.smtpUrl': withPassword(smtpUrl, password) } : {}),
    },
    first: await firstGiven(call),
  };
}

async function firstGiven({ input }: Call): Promise<Setup['first']> {
  const variable = (name: string) => process.env[name] || undefined;
  const password = await givenSecret({
    name: 'owner-password',
    stdin: input['ownerPasswordStdin'],
    file: input['ownerPasswordFile'],
    variable: 'IDCTL_OWNER_PASSWORD_FILE',
  });
  return {
    organization: input['org'] ?? variable('IDCTL_ORG_NAME'),
    owner: input['owner'] ?? variable('IDCTL_OWNER'),
    password,
  };
}

/** Refuses a password in an argument, because every user of the machine can read arguments. */
function withoutPassword(database: string): string {
  if (!holdsPassword(database)) return database;
  throw refuseField(
    '--database',
    'must not contain the password',
    'Before idctl init, write the URL to idctl.yaml as database.url, or set IDCTL_DATABASE.',
  );
}

function withPassword(smtpUrl: string, password: string | undefined): string {
  if (!URL.canParse(smtpUrl)) return smtpUrl;
  const url = new URL(smtpUrl);
  if (url.password !== '')
    throw refuseField(
      '--smtp-url',
      'must not contain the password',
      'Give the password with --smtp-password-stdin or --smtp-password-file.',
    );
  if (password === undefined) return smtpUrl;
  if (url.username === '')
    throw refuseField('--smtp-url', 'must contain a user name, because a password is given');
  url.password = encodeURIComponent(password);
  return url.href;
}

/** Asks for missing input, except the owner's password. The environment counts as given. */
export async function setupAsked(
  call: Call,
  given: Setup,
  { config, origins }: LoadedConfig,
): Promise<Setup> {
  const settings = { ...given.settings };
  const ask = async (key: string, message: string, usual: string) => {
    if (origins.get(key) !== 'default') return;
    const answer = await askText(message, usual, (text) =>
      faultIn(call, { ...settings, [key]: text }, text),
    );
    if (answer !== usual) settings[key] = answer;
  };
  await ask('baseUrl', 'Address at which browsers reach idctl', config.baseUrl);
  if (origins.get('database.url') === 'default')
    await askDatabase(call, settings, config.database.url);
  await ask('mail.smtpUrl', 'Mail server (smtp://USER@HOST, none: Enter)', '');
  if (origins.get('mail.smtpUrl') === 'default') await completeMail(call, settings);
  const { organization, owner, password } = given.first;
  const { shape } = initializeInput;
  return {
    settings,
    first: {
      organization:
        organization ?? (await askField(shape.organization, 'First organization', 'Default')),
      owner:
        owner ?? (await askField(shape.owner, 'E-mail address of its owner', 'admin@idctl.test')),
      password,
    },
  };
}

/** What is wrong with an answer, or null. An answer is visible, so a password in it is a fault. */
async function faultIn(
  call: Call,
  settings: Record<string, string>,
  answer: string,
): Promise<string | null> {
  if (answer === '') return null;
  if (holdsPassword(answer)) return 'Leave out the password. A hidden prompt asks for it next.';
  return faultOf(call, settings, async () => {});
}

/**
 * Asks for the database until a connection succeeds or the answer is the default. A hidden prompt
 * asks for the password.
 */
async function askDatabase(
  call: Call,
  settings: Record<string, string>,
  usual: string,
): Promise<void> {
  for (let fault = ''; ; ) {
    const question = `${fault}Database (sqlite:FILE or postgres://USER@HOST/NAME)`;
    const answer = await askText(question, usual, (text) =>
      faultIn(call, { ...settings, 'database.url': text }, text),
    );
    if (answer === usual) return;
    const chosen = { ...settings, 'database.url': await completed(answer) };
    const found = await withProgress(() => faultOf(call, chosen, lookAtDatabase), true);
    if (found === null) {
      Object.assign(settings, chosen);
      return;
    }
    fault = `${escaped(found)} `;
  }
}

/** Asks for the password of the URL's user and adds it to the URL, unless it is empty. */
async function completed(answer: string): Promise<string> {
  const url = new URL(answer);
  if (url.username === '') return answer;
  const password = await askSecret(
    `Password of ${decodeURIComponent(url.username)} on that server`,
  );
  if (password === '') return answer;
  url.password = encodeURIComponent(password);
  return url.href;
}

/** Asks for the password of the mail URL's user. Warns if the mail server fails its test. */
async function completeMail(call: Call, settings: Record<string, string>): Promise<void> {
  const answer = settings['mail.smtpUrl'];
  if (answer === undefined) return;
  settings['mail.smtpUrl'] = await completed(answer);
  const fault = await withProgress(() => faultOf(call, settings, greetMailServer), true);
  if (fault !== null)
    call.note(`warning: ${fault} The setup continues; idctl doctor tests the mail server again.`);
}

async function greetMailServer(config: Config): Promise<void> {
  const { openNetwork } = await import('../app.ts');
  const network = openNetwork(config);
  await network.greetMailServer().finally(() => network.close());
}

/** The fault of the settings, as a sentence; null if there is none. */
async function faultOf(
  call: Call,
  overrides: Record<string, string>,
  look: (config: Config) => Promise<void>,
): Promise<string | null> {
  try {
    const { config } = await readConfiguration(call.flags, { mayBeMissing: true, overrides });
    await look(config);
    return null;
  } catch (error) {
    if (error instanceof Refusal) return withReason(error).message;
    throw error;
  }
}

/** Connects to the database server. Ignores an SQLite file, because the setup creates it later. */
async function lookAtDatabase(config: Config): Promise<void> {
  if (databaseFile(config.database.url) !== null) return;
  const { checkConnection } = await import('../services/instance/setup/initialize.ts');
  await checkConnection(config.database);
}

function askField(schema: z.ZodType, message: string, usual: string): Promise<string> {
  return askText(message, usual, async (text) => {
    const { error } = schema.safeParse(text);
    return error === undefined ? null : (error.issues[0]?.message ?? 'is not accepted');
  });
}
