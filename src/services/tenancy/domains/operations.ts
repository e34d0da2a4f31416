import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { randomToken } from '../../../crypto/secret.ts';
import { hold } from '../../../database/hold.ts';
import { Domain } from '../../../database/models/domain.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import type { TxtAnswer } from '../../../outbound/outbound.ts';
import {
  requireOperator,
  requireStill,
  type Standing,
} from '../../foundation/authority/require.ts';
import { affectedOwners, sessionsEnding } from '../../foundation/ending.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { domain, ref } from '../../foundation/fields.ts';
import { requireCapRoom } from '../../foundation/limits/caps.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf, readRows } from '../../foundation/page.ts';
import { forgetProofs } from '../../people/accounts/account.ts';
import { endSessionsByDomain } from '../../people/sessions/end.ts';
import { dropLostOrigins, holdDomains } from '../clients/origins.ts';
import { findAffected, nobodyAffected } from '../sso/affected.ts';
import { switchApproval } from '../sso/save.ts';
import {
  domainRemovedView,
  domainView,
  isProven,
  markVerified,
  txtValue,
  viewDomain,
  whyShared,
} from './domain.ts';

// Verified domains of an organization (spec §2.1, §3.1).

const domainInput = z.strictObject({ org: ref, domain });

/** Lists the domains with the records that prove them. */
export const listDomains = operation({
  authority: 'domains.see',
  input: z.strictObject({ org: ref, ...pageInput }),
  output: pageOf(domainView),
  run: (_ctx, input, { organization }) =>
    readRows(Domain, { where: { organizationId: organization.id } }, input, viewDomain),
});

/**
 * Claims a domain, without reserving it (security I2). Refuses with `domain_shared` (security D2).
 */
export const addDomain = operation({
  authority: 'domains.change',
  input: domainInput,
  output: domainView,
  run: async (ctx, input, standing) => {
    const why = await whyShared(input.domain);
    if (why === null) return claim(ctx, input.domain, standing, {});
    throw new Refusal('domain_shared', `${input.domain} ${why}.`, {
      hint: [
        'Add a domain that only your organization uses.',
        {
          say: 'Or ask the operator to add this one',
          operation: 'domain.override',
          with: { domain: input.domain, org: standing.organization.slug },
        },
      ],
    });
  },
});

/** Claims a domain as the operator, even a public suffix or mail provider; the event says so. */
export const overrideDomain = operation({
  authority: 'domains.change',
  input: domainInput,
  output: domainView,
  run: async (ctx, input, standing) => {
    requireOperator(ctx);
    return claim(ctx, input.domain, standing, { data: { overridden: true } });
  },
});

async function claim(
  ctx: Context,
  name: string,
  { organization }: Standing,
  more: { data?: { overridden: true } },
) {
  const row = {
    id: orderedId(),
    organizationId: organization.id,
    name,
    state: 'Pending' as const,
    token: randomToken(128),
    createdAt: ctx.now,
  };
  return transaction(async () => {
    await requireCapRoom(organization, 'domains');
    const added = await refusingDuplicate(Domain.create(row), {
      message: `${organization.slug} already has ${name}.`,
      hint: { to: 'see its record', operation: 'domain.list', with: { org: organization.slug } },
    });
    const about = eventAbout('domain', added, organization.id);
    await recordEvent(ctx, { kind: 'domain.added', ...about, ...more });
    await requireStill(ctx, 'domains.change', organization);
    return viewDomain(added);
  });
}

/** Looks up the proof in the DNS. Refuses with `domain_not_verified`, with the records found. */
export const verifyDomain = operation({
  authority: 'domains.change',
  turn: 'network',
  input: domainInput,
  output: domainView,
  run: async (ctx, input, { organization }) => {
    const found = await requireDomain(organization, input.domain);
    if (found.state === 'Verified') return viewDomain(found);
    const answer = await lookUp(ctx, found.name);
    if (!isProven(answer, txtValue(found))) throw notVerified(found, answer);
    return viewDomain(await markVerified(ctx, organization, found, 'dns'));
  },
});

/** Looks the proof up. If the resolver fails, only the operator learns which one, and how. */
async function lookUp(ctx: Context, name: string): Promise<TxtAnswer> {
  try {
    return await ctx.outbound.lookupTxt(name);
  } catch (error) {
    const isDetail = error instanceof Refusal && error.code === 'resolver_failed';
    if (!isDetail || ctx.actor.kind === 'operator') throw error;
    const { failure, extra } = error;
    throw new Refusal('resolver_failed', 'The DNS could not be asked.', {
      hint: 'Try again in a few minutes. If it happens again, tell the operator of this instance.',
      ...{ failure, extra, cause: error },
    });
  }
}

/** Verifies a domain on the operator's assertion, and records it as such (security I2). */
export const assertDomain = operation({
  authority: 'domains.change',
  input: domainInput,
  output: domainView,
  run: async (ctx, input, { organization }) => {
    requireOperator(ctx);
    const found = await requireDomain(organization, input.domain);
    if (found.state === 'Verified') return viewDomain(found);
    return viewDomain(await markVerified(ctx, organization, found, 'operator'));
  },
});

/**
 * Removes a domain. If it is verified and `trust.domains` is not off, disables its connection and
 * ends its people's sessions through the organization. Returns the affected people, and the owners
 * among them (security D5).
 */
export const removeDomain = operation({
  authority: 'domains.remove',
  input: domainInput,
  output: domainRemovedView,
  ends: {
    ask: ({ domain }) => `Give ${domain} up?`,
    effects: endingWith,
    done: (view) => [`Removed ${view.domain}.`, ...endingWith(view)],
  },
  run: (ctx, input, standing) =>
    transaction(async () => {
      const { organization } = standing;
      const { id, name } = await requireDomain(organization, input.domain);
      await holdDomains({ organizationId: organization.id, name: [name] }, 'whole', [name]);
      const found = (await hold.domain({ id }, 'whole')) ?? refuseMissing(organization, name);
      const connection = await hold.sso(
        { organizationId: organization.id, emailDomain: name, enabled: true },
        'alone',
      );
      const carriesTrust = found.state === 'Verified' && ctx.config.trust.domains === 'enforce';
      const disabled = carriesTrust ? connection : null;
      if (disabled !== null) {
        const approval = await switchApproval(ctx, standing, disabled, false);
        await disabled.update({ enabled: false, ...approval });
      }
      await found.destroy();
      if (found.state === 'Verified') {
        await forgetProofs(found.name);
        await dropLostOrigins(ctx, found.name);
      }
      const affected = disabled === null ? nobodyAffected : await findAffected(disabled);
      const shutOut = carriesTrust ? await findShutOut(organization, found.name) : nobodyAffected;
      const sessionsEnded = carriesTrust
        ? await endSessionsByDomain(ctx, organization.id, found.name)
        : 0;
      const both = (who: 'people' | 'owners') => [...new Set([...affected[who], ...shutOut[who]])];
      const [people, owners] = [both('people'), both('owners')];
      const ssoDisabled = disabled !== null;
      await recordEvent(ctx, {
        kind: 'domain.removed',
        ...eventAbout('domain', found, organization.id),
        data: { state: found.state, ssoDisabled, owners, sessionsEnded },
      });
      return { domain: found.name, ssoDisabled, ...affected, people, owners, sessionsEnded };
    }),
});

function endingWith(view: z.output<typeof domainRemovedView>): string[] {
  const off = view.ssoDisabled ? ['Its single sign-on is disabled.'] : [];
  return [...off, ...sessionsEnding(view), ...affectedOwners(view)];
}

/** The organization's domain of this name, Pending or Verified; refuses with `not_found`. */
async function requireDomain(organization: Organization, name: string): Promise<Domain> {
  const found = await Domain.findOne({ where: { organizationId: organization.id, name } });
  return found ?? refuseMissing(organization, name);
}

function refuseMissing({ slug }: Organization, name: string): never {
  throw new Refusal('not_found', `${slug} has no domain ${name}.`, {
    hint: { say: 'Add it first', operation: 'domain.add', with: { domain: name, org: slug } },
  });
}

function notVerified(domain: Domain, answer: TxtAnswer): Refusal {
  const found = answer.values.filter((value) => value.startsWith('svc-verify='));
  return new Refusal('domain_not_verified', `${domain.name} ${finding(answer, found)}.`, {
    hint: `Add the TXT record ${txtValue(domain)} at ${domain.name} (name @), allow DNS propagation, and verify again.`,
    extra: { found: { rcode: answer.rcode, records: answer.values.length, proofs: found } },
  });
}

function finding(answer: TxtAnswer, found: string[]): string {
  if (answer.truncated) return 'answered with a truncated list of TXT records';
  if (answer.rcode === 'NXDOMAIN') return 'does not exist in the DNS (NXDOMAIN)';
  if (answer.rcode !== 'NOERROR') return `could not be looked up (${answer.rcode})`;
  if (found.length > 0) return `has ${found.join(', ')} in the DNS, not the expected value`;
  return `has no svc-verify record among its ${answer.values.length} TXT records`;
}

/** The people on the domain who can no longer sign in through the directory (security L6). */
async function findShutOut({ id: organizationId }: Organization, domain: string) {
  const directory = await LdapConnection.findOne({ where: { organizationId, enabled: true } });
  return directory === null ? nobodyAffected : findAffected(directory, domain);
}
