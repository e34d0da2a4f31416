import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import { orderedId } from '../../../../crypto/id.ts';
import { LdapConnection } from '../../../../database/models/ldap-connection.ts';
import type { Organization } from '../../../../database/models/organization.ts';
import { refuseField } from '../../../../errors.ts';
import type { Step } from '../../../../finding.ts';
import { parse } from '../../../../input.ts';
import { requireAuthority } from '../../../foundation/authority/require.ts';
import { entryLimit, testedLimits } from '../../../foundation/limits/ldap.ts';
import type { Limit } from '../../../foundation/limits/limit.ts';
import { giveBack, spend } from '../../../foundation/limits/spend.ts';
import { requireEncryption } from '../../../tenancy/ldap/encryption.ts';
import { requireDirectory } from '../../../tenancy/ldap/find.ts';
import { saveLdapInput, type testLdapInput } from '../../../tenancy/ldap/schema.ts';
import { openBindPassword, requireSameServer } from '../../../tenancy/ldap/secret.ts';
import { directorySettingsOf } from '../../../tenancy/ldap/settings.ts';
import { tryingBind, type Watch } from './bind-tries.ts';
import { type DirectoryExamination, examineDirectory, type Trial } from './examine/directory.ts';
import { rehearseSignIn } from './examine/rehearse.ts';

type Input = z.output<typeof testLdapInput>;

/**
 * Tests the directory step by step (spec §4.2); given settings replace the stored ones. With a user
 * name and a password it tries a whole sign-in. It changes only the count of wrong passwords
 * (security L8).
 */
export async function testLdap(ctx: Context, input: Input) {
  const { organization } = await requireAuthority(ctx, 'ldap.test', input.org);
  const { stored, settings, bindPassword } = await settingsToTry(ctx, organization, input);
  requireEncryption(ctx, settings);
  const { username, password } = input;
  if (password !== undefined && username === undefined)
    throw refuseField('username', 'is required with a password');
  const account = { dn: settings.bindDn, password: bindPassword };
  const examine = async (watch: Watch, proving: Trial['proving']) => {
    const visit = watch(await ctx.outbound.visitDirectory(settings));
    return examineDirectory(visit, { ...settings, account, username, password, proving });
  };
  const at = { id: stored?.id ?? orderedId(), organizationId: organization.id, uri: settings.uri };
  const limits =
    username === undefined || password === undefined
      ? []
      : testedLimits(ctx, username, organization.id);
  const kept = settings.bindPassword ? null : (stored?.bindPassword ?? null);
  const examination = await tryingBind(
    ctx,
    { ...at, bindDn: settings.bindDn, bindPassword: kept },
    (watch) => counting(ctx, organization, (proving) => examine(watch, proving), limits),
  );
  const { steps, entries, person } = examination;
  if (person !== null) steps.push(...(await rehearseSignIn(ctx, at, person)));
  const ok = steps.every((step) => step.ok);
  const message = messageOf(examination, person !== null);
  return { ok, message, ...(entries === undefined ? {} : { entries }), steps };
}

type Examine = (proving: Trial['proving']) => Promise<DirectoryExamination>;

/**
 * Counts the person's password as a sign-in does: before the try, by name and by entry. The count
 * is returned unless the password was refused.
 */
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
  const failed = failedStepOf(examination.steps);
  if (failed !== 'password' && failed !== 'filter') await giveBack(ctx, limits);
  return examination;
}

function failedStepOf(steps: Step[]): string | undefined {
  return steps.find(({ ok }) => !ok)?.name;
}

/**
 * The settings to try and the bind password: a stored password goes only to its own server
 * (security S10).
 */
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

function messageOf({ steps, entries = 0 }: DirectoryExamination, wholeSignIn: boolean): string {
  const at = steps.findIndex(({ ok }) => !ok);
  const step = steps[at];
  if (step !== undefined) return `Step ${at + 1}, ${step.name}, failed: ${step.seen}.`;
  const returned = entries === 1 ? '1 sample entry was' : `${entries} sample entries were`;
  const end = wholeSignIn ? ' The person would be let in.' : '';
  return `The connection worked; ${returned} returned.${end}`;
}
