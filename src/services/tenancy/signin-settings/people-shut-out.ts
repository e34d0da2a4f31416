import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { SignInSettings } from '../../../database/models/sign-in-settings.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { findVerifiedNames } from '../../foundation/domain-names/owns.ts';
import { operation } from '../../foundation/operation.ts';
import { firstKey } from '../../foundation/page.ts';
import { type SignInRules, settingsOf } from './governing.ts';
import { readHoldings } from './holdings.sql.ts';
import { changeSignInSettings, choicesIn } from './operations.ts';
import { requireOwnersLetIn, takesAway } from './owners.ts';
import { domainFor, findReach, isWayIn, planFor, type Reach } from './ways.ts';

/** The people that are named; the others are counted. */
const maxNamed = 10;

/** The members that one query reads, so that other work need not wait. */
const readAtOnce = 1000;

/**
 * Counts the members who would have no way to sign in after a change of the settings, and had one
 * before, and names the first ten. Refuses with `owners_locked_out` as the change does (security
 * O3). It changes nothing. It does not judge accounts that are not the organization's own, or that
 * other settings govern (security O8, O1).
 */
export const findPeopleShutOut = operation({
  authority: 'signin.change',
  turn: 'computing',
  input: changeSignInSettings.input,
  output: z.object({
    count: z.number().int(),
    people: z.array(z.string()).describe('The first of them: the address, or else the name.'),
  }),
  run: async (ctx, input, { organization }) => {
    const row = await SignInSettings.findByPk(organization.id);
    const stored = choicesIn(row ?? {});
    const before = settingsOf(ctx, stored);
    const after = settingsOf(ctx, { ...stored, ...choicesIn(input) });
    await requireOwnersLetIn(ctx, organization, { before, after });
    if (!takesAway(before, after)) return { count: 0, people: [] };
    return judgeMembers(ctx, organization, { before, after });
  },
});

async function judgeMembers(
  ctx: Context,
  organization: Organization,
  { before, after }: { before: SignInRules; after: SignInRules },
): Promise<{ count: number; people: string[] }> {
  const reachFor = await reachesOf(ctx, organization);
  const people: string[] = [];
  let count = 0;
  let last = firstKey;
  for (;;) {
    const at = { after: last, limit: readAtOnce };
    const holdings = await readHoldings(ctx, organization.id, at);
    for (const holding of holdings) {
      const reach = await reachFor(domainFor(holding));
      const hasWay = (settings: SignInRules) =>
        isWayIn(ctx, holding, planFor(reach, { organizationId: organization.id, settings }));
      if (!hasWay(before) || hasWay(after)) continue;
      count += 1;
      if (people.length < maxNamed) people.push(holding.email ?? holding.name);
    }
    if (holdings.length < readAtOnce) return { count, people };
    last = holdings.at(-1)?.id ?? last;
  }
}

/**
 * Finds what decides for a domain. It reads only for the organization's own domains: all others
 * share one answer, so that members on many domains do not need many queries.
 */
async function reachesOf(ctx: Context, { id: organizationId }: Organization) {
  const sso = await SsoConnection.findOne({ where: { organizationId, enabled: true } });
  const own = await findVerifiedNames(organizationId);
  if (sso?.emailDomain) own.add(sso.emailDomain);
  const known = new Map<string, Reach>();
  return async (domain: string): Promise<Reach> => {
    const key = own.has(domain) ? domain : '';
    const reach = known.get(key) ?? (await findReach(ctx, key));
    known.set(key, reach);
    return reach;
  };
}
