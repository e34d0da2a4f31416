import type { z } from 'zod';
import { connectionKinds } from '../../../../connection-kinds.ts';
import type { Context } from '../../../../context.ts';
import { orderedId } from '../../../../crypto/id.ts';
import { LdapConnection } from '../../../../database/models/ldap-connection.ts';
import type { Organization } from '../../../../database/models/organization.ts';
import { rehearse } from '../../../../database/transaction.ts';
import { refuseField } from '../../../../errors.ts';
import { type Finding, right, type Step, stepOf } from '../../../../finding.ts';
import { parse } from '../../../../input.ts';
import type { Reason } from '../../../../reasons.ts';
import { entryLimit, testedLimits } from '../../../foundation/limits/ldap.ts';
import { giveBack, type Limit, spend } from '../../../foundation/limits/limit.ts';
import { operation } from '../../../foundation/operation.ts';
import { isApproved, pointingChanges } from '../../../tenancy/connections/approval.ts';
import {
  directorySettingsOf,
  openBindPassword,
  whereLdapPoints,
} from '../../../tenancy/connections/ldap.ts';
import { findWaiting, testsStored } from '../../../tenancy/connections/waiting.ts';
import { tryingBind, type Watch } from '../../../tenancy/ldap/bind-tries.ts';
import {
  requireDirectory,
  requireEncryption,
  requireSameServer,
} from '../../../tenancy/ldap/connection.ts';
import type { DirectoryPerson } from '../../../tenancy/ldap/find-person.ts';
import { saveLdapInput, testLdapInput, testLdapView } from '../../../tenancy/ldap/schema.ts';
import { reasonOfFailure } from '../../refused.ts';
import { type DirectoryExamination, examineDirectory, type Trial } from './examine.ts';
import { enter } from './sign-in.ts';
import { refusalWords } from './words.ts';

type Input = z.output<typeof testLdapInput>;

/**
 * Tests the directory step by step (spec §4.2). Given settings replace the stored settings. With a
 * user name and a password, it tries a whole sign-in. It writes only counts of attempts, and an
 * event if too many bind passwords were refused (security L8).
 */
export const testLdap = operation({
  authority: 'ldap.test',
  turn: 'network',
  input: testLdapInput,
  output: testLdapView,
  hints: true,
  run: async (ctx, input, { organization }) => {
    const { stored, settings, bindPassword } = await settingsToTry(ctx, organization, input);
    requireEncryption(ctx, settings);
    const { username, password } = input;
    if (password !== undefined && username === undefined)
      throw refuseField('username', 'is required with a password');
    const account = { dn: settings.bindDn, password: bindPassword };
    const examine = async (watch: Watch, proving: Trial['proving']) => {
      const visit = watch(await ctx.outbound.directoryClient(settings));
      return examineDirectory(visit, { ...settings, account, username, password, proving });
    };
    const at = {
      id: stored?.id ?? orderedId(),
      organizationId: organization.id,
      uri: settings.uri,
      approved: stored !== null && staysApproved(stored, settings),
    };
    const limits =
      username === undefined || password === undefined
        ? []
        : testedLimits(ctx, username, organization.id);
    const kept = settings.bindPassword ? null : (stored?.bindPassword ?? null);
    const binding = { ...at, bindDn: settings.bindDn, bindPassword: kept };
    const examination = await tryingBind(ctx, binding, (watch) =>
      counting(ctx, organization, (proving) => examine(watch, proving), limits),
    );
    const { steps, entries, person } = examination;
    if (person !== null) steps.push(...(await rehearseSignIn(ctx, at, person)));
    const isTested = stored !== null && testsStored(input, ['username', 'password']);
    const waiting = isTested
      ? findWaiting(stored, connectionKinds.ldap.name, organization.slug)
      : null;
    if (waiting !== null) steps.push(stepOf('approval', 'an owner has approved it', waiting));
    const ok = steps.every((step) => step.ok);
    const message = messageOf(examination, person !== null);
    return { ok, message, ...(entries === undefined ? {} : { entries }), steps };
  },
});

type Examine = (proving: Trial['proving']) => Promise<DirectoryExamination>;

/** Counts the attempt by name and entry. It stays counted if the step filter or password fails. */
async function counting(
  ctx: Context,
  organization: Organization,
  examine: Examine,
  limits: Limit[],
): Promise<DirectoryExamination> {
  await spend(ctx, limits);
  const examination = await examine(async (found) => {
    const limit = entryLimit(ctx, found, organization.id);
    await spend(ctx, [limit]);
    limits.push(limit);
  });
  const failed = examination.steps.find(({ ok }) => !ok)?.name;
  if (failed !== 'password' && failed !== 'filter') await giveBack(ctx, limits);
  return examination;
}

/** The settings to try; a stored bind password goes only to its own server (security S10). */
async function settingsToTry(ctx: Context, organization: Organization, input: Input) {
  const stored =
    input.uri === undefined
      ? await requireDirectory(organization)
      : await LdapConnection.findOne({ where: { organizationId: organization.id } });
  const { username: _, password: __, ...given } = input;
  const settings = parse(saveLdapInput, {
    ...(stored === null ? {} : directorySettingsOf(stored)),
    ...given,
  });
  if (settings.bindPassword) return { stored, settings, bindPassword: settings.bindPassword };
  if (stored === null) throw refuseField('bindPassword', 'is required');
  requireSameServer(stored, settings);
  return { stored, settings, bindPassword: openBindPassword(ctx, stored) };
}

/** Whether these settings would sign owners in as the stored connection does (security I8). */
function staysApproved(stored: LdapConnection, settings: z.output<typeof saveLdapInput>): boolean {
  const changes = pointingChanges(whereLdapPoints(stored), whereLdapPoints(settings));
  return isApproved(stored) && changes.length === 0;
}

function messageOf({ steps, entries = 0 }: DirectoryExamination, wholeSignIn: boolean): string {
  const at = steps.findIndex(({ ok }) => !ok);
  const step = steps[at];
  if (step !== undefined) return `Step ${at + 1}, ${step.name}, failed: ${step.seen}.`;
  const returned = entries === 1 ? '1 sample entry was' : `${entries} sample entries were`;
  const end = wholeSignIn ? ' The person could sign in.' : '';
  return `The connection worked; ${returned} returned.${end}`;
}

/** Runs the sign-in of a person with a right password, returns its steps, and rolls it back. */
async function rehearseSignIn(
  ctx: Context,
  connection: Parameters<typeof enter>[1],
  person: DirectoryPerson,
): Promise<Step[]> {
  const asked = rehearse(() => enter(ctx, connection, person, null));
  const reason = await asked.then(() => null, reasonOf);
  const address = (finding: Finding) =>
    stepOf('e-mail', 'an address on a verified domain of the organization', finding);
  const words = reason === null ? undefined : refusalWords[reason];
  if (words !== undefined && reason?.startsWith('email_'))
    return [address({ ok: false, ...words })];
  const entered: Finding =
    words === undefined ? right('the sign-in succeeds') : { ok: false, ...words };
  return [address(right('there')), stepOf('account', 'the person can sign in', entered)];
}

/** Why the sign-in would be refused, as a key of `refusalWords`. */
function reasonOf(error: unknown): Reason {
  const reason = reasonOfFailure(error);
  if (reason === null || refusalWords[reason] === undefined) throw error;
  return reason;
}
