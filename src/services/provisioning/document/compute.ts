import { timingSafeEqual } from 'node:crypto';
import {
  type ConnectionKindName,
  connectionKindNames,
  connectionKinds,
  ofEachKind,
} from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { assertNoTransaction, transaction } from '../../../database/transaction.ts';
import { refuseField } from '../../../errors.ts';
import { requireAuthority, type Standing } from '../../foundation/authority/require.ts';
import { stopIfGone } from '../../foundation/gone.ts';
import { giveBack, requirePlace } from '../../foundation/limits/limit.ts';
import { collectOutside } from './collect.ts';
import { type Plan, planDocument } from './plan.ts';
import type { Document } from './schema.ts';
import { fingerprintOf, secretsDigest } from './secrets.ts';
import { metadataUrlIn } from './sections/sso.ts';
import type { State } from './sections.ts';
import { readOrganizationState } from './state.ts';
import type { PlanInput } from './wanted.ts';

/** A document to plan or to apply. */
export interface ToCompute {
  org: string;
  document: Document;
  prune: boolean;
}

/** A plan, and the digest of everything that it depends on. */
export type Computed = Plan & { metadataUrl: string | null; notCompared: string[]; digest: string };

/** Reads the state and plans the document against it. Read-only. */
export async function computePlan(
  ctx: Context,
  organization: Organization,
  { document, prune }: ToCompute,
): Promise<Computed> {
  stopIfGone(ctx);
  const state = await readOrganizationState(ctx, organization);
  const given = givenFingerprints(ctx, document);
  const secrets = compared(state, document, given);
  const outside = await collectOutside(ctx, organization, { state, document, prune });
  stopIfGone(ctx);
  const plan = await planDocument({ state, document, prune, secrets, outside });
  const plain = { ...document, ...ofEachKind((kind) => withoutSecret(document, kind)) };
  const { changes, kept, losing, blocked } = plan;
  const notCompared = connectionKindNames
    .filter((kind) => secrets[kind] === 'withheld')
    .map((kind) => `${kind}.${connectionKinds[kind].secret}`);
  const said = { changes, kept, losing, blocked, notCompared };
  const digest = await secretsDigest(ctx, [state, plain, { prune }, given, said]);
  const metadataUrl = metadataUrlIn(plan.steps, state);
  return { ...plan, notCompared, metadataUrl, digest };
}

/** Requires the right, and the rights to save the secrets that the document contains. */
export async function requireDocumentRights(
  ctx: Context,
  right: 'document.see' | 'document.apply',
  { org, document }: ToCompute,
): Promise<Standing> {
  const standing = await requireAuthority(ctx, right, org);
  const given = givenFingerprints(ctx, document);
  for (const kind of connectionKindNames)
    if (given[kind] !== null) await requireAuthority(ctx, `${kind}.change`, org);
  return standing;
}

/**
 * Counts requests whose secrets differ from the stored ones, because plans could be used to guess
 * them. The operator is not limited. Refuses a document of another organization.
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
  const isSecret = connectionKindNames.some((kind) => given[kind] !== null);
  if (!isSecret || ctx.actor.kind === 'operator') return;
  assertNoTransaction('counting a secret');
  const limit = { name: 'document secret', of: organization.id, max: 20, seconds: 3600 };
  const message = `More than ${limit.max} documents with a new secret were sent within an hour.`;
  // This counts before the comparison, so that answers at the limit do not show whether a guess is
  // right.
  await transaction(() => requirePlace(ctx, limit, message));
  const state = await readOrganizationState(ctx, organization);
  const secrets = compared(state, document, given);
  const differs = connectionKindNames.some(
    (kind) => secrets[kind] === 'different' && state[kind] !== null,
  );
  if (!differs) await giveBack(ctx, [limit]);
}

type Fingerprints = Record<ConnectionKindName, string | null>;

function givenFingerprints(ctx: Context, document: Document): Fingerprints {
  return ofEachKind((kind) => {
    const secret = secretIn(document, kind);
    const value = secret !== undefined && 'value' in secret ? secret.value : null;
    return typeof value === 'string' ? fingerprintOf(ctx, kind, value) : null;
  });
}

function compared(state: State, document: Document, given: Fingerprints): PlanInput['secrets'] {
  return ofEachKind((kind) => {
    const secret = secretIn(document, kind);
    const [one, other] = [given[kind], state[kind]?.secret];
    if (one === null) return secret !== undefined && 'withheld' in secret ? 'withheld' : null;
    const same = other !== undefined && timingSafeEqual(Buffer.from(one), Buffer.from(other));
    return same ? 'same' : 'different';
  });
}

/** The secret in the document's section of this kind, as the document gives it. */
function secretIn({ sso, ldap }: Document, kind: ConnectionKindName): object | undefined {
  const clientSecret = sso?.kind === 'oidc' ? sso.clientSecret : undefined;
  return { sso: clientSecret, ldap: ldap?.bindPassword }[kind];
}

function withoutSecret(document: Document, kind: ConnectionKindName) {
  const section: Record<string, unknown> | null | undefined = document[kind];
  if (!section) return section;
  const { [connectionKinds[kind].secret]: _, ...settings } = section;
  return settings;
}
