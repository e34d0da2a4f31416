import { timingSafeEqual } from 'node:crypto';
import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { assertNoTransaction, transaction } from '../../../database/transaction.ts';
import { refuseField } from '../../../errors.ts';
import { requireAuthority, type Standing } from '../../foundation/authority/require.ts';
import { stopIfGone } from '../../foundation/gone.ts';
import { giveBack, requirePlace } from '../../foundation/limits/limit.ts';
import { gatherOutside } from './gather.ts';
import { planDocument } from './plan.ts';
import type { Document } from './schema.ts';
import { fingerprintOf, secretsDigest } from './secrets.ts';
import { readOrganizationState, type State } from './state.ts';
import type { PlanInput } from './wanted.ts';

/** A document to plan or to apply. */
export interface ToCompute {
  org: string;
  document: Document;
  prune: boolean;
}

/** A plan, and the digest of everything that it depends on. */
export type Computed = Awaited<ReturnType<typeof planDocument>> & {
  notCompared: string[];
  digest: string;
};

/** Reads the state and plans the document against it. Writes nothing. */
export async function computePlan(
  ctx: Context,
  organization: Organization,
  { document, prune }: ToCompute,
): Promise<Computed> {
  stopIfGone(ctx);
  const state = await readOrganizationState(ctx, organization);
  const given = givenFingerprints(ctx, document);
  const secrets = compared(state, document, given);
  const outside = await gatherOutside(ctx, organization, { state, document, prune });
  stopIfGone(ctx);
  const plan = await planDocument({ state, document, prune, secrets, outside });
  const { sso, ldap, ...rest } = document;
  const plain = { ...rest, sso: withoutSecret(sso), ldap: withoutSecret(ldap) };
  const { changes, kept, losing, blocked } = plan;
  const notCompared = [
    ...(secrets.sso === 'withheld' ? ['sso.clientSecret'] : []),
    ...(secrets.ldap === 'withheld' ? ['ldap.bindPassword'] : []),
  ];
  const said = { changes, kept, losing, blocked, notCompared };
  const digest = await secretsDigest(ctx, [state, plain, { prune }, given, said]);
  return { ...plan, notCompared, digest };
}

/** Proves the right, and the rights to save the secrets that the document contains. */
export async function requireDocumentRights(
  ctx: Context,
  right: 'document.see' | 'document.apply',
  { org, document }: ToCompute,
): Promise<Standing> {
  const standing = await requireAuthority(ctx, right, org);
  const given = givenFingerprints(ctx, document);
  if (given.sso !== null) await requireAuthority(ctx, 'sso.change', org);
  if (given.ldap !== null) await requireAuthority(ctx, 'ldap.change', org);
  return standing;
}

/**
 * Counts requests whose secrets differ from the
 * stored ones, because plans could be used to guess them. The operator has no such limit. Refuses a
 * document of another organization.
 */
export async function admitDocument(
  ctx: Context,
  organization: Organization,
  { document }: ToCompute,
): Promise<void> {
  const slug = document.organization?.slug ?? organization.slug;
  if (slug !== organization.slug) {
    const message = `is ${JSON.stringify(slug)}, but the organization is ${organization.slug}`;
    throw refuseField('document.organization.slug', message);
  }
  const given = givenFingerprints(ctx, document);
  if ((given.sso ?? given.ldap) === null || ctx.actor.kind === 'operator') return;
  assertNoTransaction('counting a secret');
  const limit = { name: 'document secret', of: organization.id, most: 20, seconds: 3600 };
  const message = `More than ${limit.most} documents with a new secret were sent within an hour.`;
  // This counts before the comparison, so that at the limit no answer shows whether a guess is
  // right.
  await transaction(() => requirePlace(ctx, limit, message));
  const state = await readOrganizationState(ctx, organization);
  const { sso, ldap } = compared(state, document, given);
  const differ = (sso === 'different' && state.sso) || (ldap === 'different' && state.ldap);
  if (!differ) await giveBack(ctx, [limit]);
}

type Fingerprints = Record<'sso' | 'ldap', string | null>;

function givenFingerprints(ctx: Context, { sso, ldap }: Document): Fingerprints {
  const secretIn = (secret: object | undefined) =>
    secret !== undefined && 'value' in secret && typeof secret.value === 'string'
      ? secret.value
      : null;
  const [clientSecret, bindPassword] = [secretIn(sso?.clientSecret), secretIn(ldap?.bindPassword)];
  return {
    sso: clientSecret === null ? null : fingerprintOf(ctx, 'sso', clientSecret),
    ldap: bindPassword === null ? null : fingerprintOf(ctx, 'ldap', bindPassword),
  };
}

function compared(
  state: State,
  { sso, ldap }: Document,
  given: Fingerprints,
): PlanInput['secrets'] {
  const compare = (section: 'sso' | 'ldap', secret: object | undefined) => {
    const [one, other] = [given[section], state[section]?.secret];
    if (one === null) return secret !== undefined && 'withheld' in secret ? 'withheld' : null;
    const same = other !== undefined && timingSafeEqual(Buffer.from(one), Buffer.from(other));
    return same ? 'same' : 'different';
  };
  return { sso: compare('sso', sso?.clientSecret), ldap: compare('ldap', ldap?.bindPassword) };
}

function withoutSecret<Section extends Document['sso'] | Document['ldap']>(section: Section) {
  if (!section) return section;
  const {
    clientSecret: _,
    bindPassword: __,
    ...settings
  } = {
    clientSecret: undefined,
    bindPassword: undefined,
    ...section,
  };
  return settings;
}
