import { z } from 'zod';
import type { Context } from '../../context.ts';
import { rehearse } from '../../database/transaction.ts';
import { refuseField } from '../../errors.ts';
import { domain, ref } from '../foundation/fields.ts';
import { operation } from '../foundation/operation.ts';
import { removeDomain } from '../tenancy/domains/operations.ts';
import { disableLdap, removeLdap } from '../tenancy/ldap/operations.ts';
import { findOwnersWithoutWay } from '../tenancy/signin-settings/owners.ts';
import { disableSso, removeSso } from '../tenancy/sso/operations.ts';

const input = z.strictObject({
  org: ref,
  change: z.enum(['domain.remove', 'sso.disable', 'sso.remove', 'ldap.disable', 'ldap.remove']),
  domain: domain.optional().describe('The domain to remove, for `domain.remove`.'),
});

/** A change that may leave every owner without a way to sign in. */
export type Change = z.output<typeof input>['change'];

const changes: Record<Change, (ctx: Context, given: z.output<typeof input>) => Promise<unknown>> = {
  'domain.remove': (ctx, { org, domain: name }) => {
    if (name === undefined) throw refuseField('domain', 'is required');
    return removeDomain(ctx, { org, domain: name });
  },
  'sso.disable': (ctx, { org }) => disableSso(ctx, { org }),
  'sso.remove': (ctx, { org }) => removeSso(ctx, { org }),
  'ldap.disable': (ctx, { org }) => disableLdap(ctx, { org }),
  'ldap.remove': (ctx, { org }) => removeLdap(ctx, { org }),
};

/**
 * Names the owners who could not sign in after a change. The list is empty if any owner still
 * could, or if no owner could before (security O3). The change is rolled back.
 */
export const findShutOut = operation({
  authority: 'signin.change',
  input,
  output: z.object({ slug: z.string(), owners: z.array(z.string()) }),
  run: (ctx, given, { organization }) =>
    rehearse(async () => {
      const { id } = organization;
      const find = () => findOwnersWithoutWay(ctx, { first: id, last: id, max: Infinity });
      const before = (await find())(id);
      await changes[given.change](ctx, given);
      const after = (await find())(id);
      const hadOne = before.stuck.length < before.owners;
      const noneLeft = after.stuck.length === after.owners;
      return {
        slug: organization.slug,
        owners: hadOne && noneLeft ? after.stuck.map(({ called }) => called) : [],
      };
    }),
});
