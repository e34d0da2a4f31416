import { z } from 'zod';
import type { LoadedConfig } from '../../../config/load.ts';
import type { Config } from '../../../config/schema.ts';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { Organization } from '../../../database/models/organization.ts';
import { right } from '../../../finding.ts';
import { inSlices } from '../../../host/queue.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import { requireAuthority, requireOperator } from '../../foundation/authority/require.ts';
import { ref } from '../../foundation/fields.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { findPasskeyObstacle } from '../../people/passkeys/relying-party.ts';
import { tellElsewhere, tellProxy } from '../daemons.ts';
import { type Check, check, checkView } from './check.ts';
import { checkDatabase, type Subject } from './database.ts';
import {
  checkConfig,
  checkDaemon,
  checkRuntime,
  examineKeyFile,
  servesAnother,
} from './machine.ts';
import { checkNetwork } from './network.ts';
import { checkOrganizations } from './organization.ts';
import { checkSweep } from './sweep.ts';

/**
 * The scope: the instance with all organizations, or with only one. `confirmClock`: the operator
 * says that the clock of this machine is right.
 */
export const diagnoseInput = z.strictObject({
  org: ref.optional(),
  confirmClock: z.boolean().optional(),
});

export const diagnosisView = z.object({
  /** Whether every check passed or was skipped. */
  ok: z.boolean(),
  checks: z.array(checkView),
});

/** An instance that may be broken. Each part is opened separately, and can fail separately. */
export interface Patient {
  readConfig(): Promise<LoadedConfig>;
  /**
   * Switches root to the owner of the instance. Returns a failed check if files belong to another
   * user.
   */
  takeOver(loaded: LoadedConfig): Promise<Check | null>;
  /** The database as it is, without the master key and without migrations. */
  database(loaded: LoadedConfig): Subject;
  network(config: Config): Outbound;
  /** Whether no process, including the daemon, has the database open. False if that is unknown. */
  isIdle(loaded: LoadedConfig): boolean;
  /** Opens the whole instance, as commands do. */
  open(loaded: LoadedConfig): Promise<Opened>;
}

interface Opened {
  run<T>(work: (ctx: Context) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

type Input = z.output<typeof diagnoseInput>;
type Diagnosis = z.output<typeof diagnosisView>;

/**
 * Checks everything that an instance needs, and the setup of its organizations. A broken part fails
 * its check, and checks that depend on the part are left out. Only an unknown organization is
 * refused.
 */
export async function diagnose(patient: Patient, input: Input): Promise<Diagnosis> {
  const runtime = await checkRuntime();
  const { loaded, check: configuration } = await checkConfig(patient.readConfig);
  if (loaded === null) return ended([runtime, configuration]);
  const owners = await patient.takeOver(loaded);
  // The owner of the instance is unclear, so the hints of the other checks could name the wrong user.
  if (owners !== null) return ended([runtime, configuration, owners]);
  const key = await examineKeyFile(loaded.config.keyFile);
  const database = await checkDatabase(patient.database(loaded));
  const machine = [runtime, configuration, key, ...database];
  const whole = machine.every(({ ok }) => ok);
  return ended([
    ...machine,
    ...(whole ? await checkWhole(patient, loaded, input) : await checkRest(patient, loaded)),
  ]);
}

function ended(checks: Check[]): Diagnosis {
  return { ok: checks.every(({ ok }) => ok), checks };
}

/** Checks everything else, given a valid master key and database. */
async function checkWhole(patient: Patient, loaded: LoadedConfig, input: Input): Promise<Check[]> {
  let opened: Opened | undefined;
  const idle = patient.isIdle(loaded);
  const sealed = await check('stored secrets', 'the master key opens them', async () => {
    opened = await patient.open(loaded);
    return right('the master key opens them');
  });
  if (opened === undefined) return [sealed, ...(await checkRest(patient, loaded))];
  try {
    return [sealed, ...(await opened.run((ctx) => checkOutside(ctx, input, idle, loaded)))];
  } finally {
    await opened.close();
  }
}

async function checkOutside(ctx: Context, input: Input, idle: boolean, loaded: LoadedConfig) {
  requireOperator(ctx);
  const organizations = await organizationsOf(ctx, input);
  const network = await checkNetwork(ctx.config, ctx.outbound, () =>
    servesAnother(ctx, ctx.config.baseUrl, idle),
  );
  const seen = withMailAsFound(ctx, network);
  const found: Check[] = [];
  await inSlices(organizations, async (some) => {
    found.push(...(await checkOrganizations(seen, some)));
  });
  const daemon = idle ? null : await checkDaemon(ctx, loaded);
  const passkeys = await checkPasskeys(ctx);
  const sweep = await checkSweep(ctx, { confirm: input.confirmClock === true });
  const instance = [
    daemon,
    idle ? null : await checkProxy(ctx),
    sweep,
    passkeys,
    await checkSignUps(ctx),
    await checkApps(),
  ].filter((check) => check !== null);
  const elsewhere = idle ? null : await tellElsewhere(ctx);
  return [...network.map((each) => withAddress(each, elsewhere)), ...instance, ...found];
}

/** If a daemon of this database listens elsewhere, the hint names that address. */
function withAddress(check: Check, elsewhere: string | null): Check {
  const isAway = check.name === 'base URL' && !check.ok && elsewhere !== null;
  return isAway ? { ...check, hint: elsewhere } : check;
}

/** If the mail check failed, treats mail as not configured: mailed codes do not arrive. */
function withMailAsFound(ctx: Context, network: Check[]): Context {
  if (network.every(({ name, ok }) => name !== 'mail' || ok)) return ctx;
  const { smtpUrl: _, ...mail } = ctx.config.mail;
  return { ...ctx, config: { ...ctx.config, mail } };
}

async function organizationsOf(ctx: Context, { org }: Input): Promise<Organization[]> {
  if (org === undefined) return Organization.findAll({ order: ['id'] });
  return [(await requireAuthority(ctx, 'organization.see', org)).organization];
}

/** The checks that need neither key nor database. */
async function checkRest({ network }: Patient, { config }: LoadedConfig): Promise<Check[]> {
  let outbound: Outbound | undefined;
  const usable = await check('network', 'settings that can be used', async () => {
    outbound = network(config);
    return right('settings that can be used');
  });
  if (outbound === undefined) return [usable];
  try {
    return await checkNetwork(config, outbound);
  } finally {
    await outbound.close();
  }
}

/** Reports a proxy that the daemons do not trust. Null if they have seen none. */
async function checkProxy(ctx: Context): Promise<Check | null> {
  const told = await tellProxy(ctx);
  if (told === null) return null;
  // This is not a fault: any program on this network can send the headers of a proxy.
  return check('proxy', 'every proxy is trusted', async () => right(told.message, told.hint));
}

/** Says why passkeys do not work at the base URL. Null if they work. */
export async function checkPasskeys({ config }: Pick<Context, 'config'>): Promise<Check | null> {
  const obstacle = findPasskeyObstacle({ config });
  if (obstacle === null) return null;
  return check('passkeys', 'https and a host name', async () =>
    // This is not a fault: an instance can work without passkeys.
    right(
      `not available: ${obstacle}`,
      'If you want passkeys, set baseUrl to https and a host name.',
    ),
  );
}

const maxNamed = 3;

/** Reports apps without an organization: for them, every token is inactive (security O9). */
async function checkApps(): Promise<Check | null> {
  const { rows, count } = await OAuthApp.findAndCountAll({
    where: { organizationId: null },
    include: { association: 'account', required: true },
    order: ['id'],
    limit: maxNamed,
  });
  if (count === 0) return null;
  return check('apps', 'each app that introspects tokens has an organization', async () => {
    const named = rows.map(
      ({ id, name, account }) => `${name} of ${account.email ?? account.name} (${id})`,
    );
    const more = count > rows.length ? ` and ${count - rows.length} more` : '';
    // This is not a fault: an app that only gets tokens for itself does not need an organization.
    return right(`no organization: ${named.join(', ')}${more}`, [
      'Introspection shows them every token as inactive.',
      { say: 'If an app introspects tokens, run', operation: 'app.set' },
    ]);
  });
}

/**
 * Reports accounts that are waiting for a code that is never mailed (security I3). Null if there
 * are none.
 */
export async function checkSignUps({ config }: Pick<Context, 'config'>): Promise<Check | null> {
  if (isMailConfigured({ config })) return null;
  const count = await Account.count({ where: { emailProof: 'none', awaitsCode: true } });
  if (count === 0) return null;
  return check('sign-ups', 'no account is waiting for a mailed code', async () => {
    const waiting = count === 1 ? '1 account is waiting' : `${count} accounts are waiting`;
    return right(`${waiting} for a mailed code, and this instance does not send mail`, [
      { technical: 'Set mail.smtpUrl.' },
      { say: 'Or create the account yourself', operation: 'user.delete' },
      { say: 'then', operation: 'user.create' },
    ]);
  });
}
