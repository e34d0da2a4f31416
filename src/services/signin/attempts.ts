import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { orderedId } from '../../crypto/id.ts';
import { type AttemptStage, attemptStages, SsoAttempt } from '../../database/models/sso-attempt.ts';
import { SsoConnection } from '../../database/models/sso-connection.ts';
import { transaction } from '../../database/transaction.ts';
import { Refusal } from '../../errors.ts';
import type { Reason } from '../../reasons.ts';
import { idsAround } from '../foundation/events/reference.sql.ts';
import { id, instant, ref } from '../foundation/fields.ts';
import { operation } from '../foundation/operation.ts';
import { pageInput, pageOf, readPage } from '../foundation/page.ts';
import type { Said } from '../tenancy/sso/claims.ts';
import { requireSsoConnection } from '../tenancy/sso/connection.ts';

const listAttemptsInput = z.strictObject({
  org: ref,
  /** The reference on the page of a refused sign-in. */
  reference: z.string().max(100).optional(),
  ...pageInput,
});

export const attemptView = z.object({
  id,
  at: instant,
  connection: id,
  /** The stage that the sign-in reached. */
  stage: z.enum(attemptStages),
  ok: z.boolean(),
  /** Why the sign-in was refused. */
  code: z.string().optional(),
  email: z.string().optional(),
  /** The groups as received; null if the claim was unreadable. */
  groups: z.array(z.string()).nullable().optional(),
  /** The reference on the page of a refused sign-in, which the events keep too. */
  reference: z.string().optional(),
});

const attemptPage = pageOf(attemptView);

// The last sign-ins of a connection are stored for the admin who sets it up. An attempt is stored
// only once its state is accepted, so a forged state does not cause a write. Attempts without an
// address have a limit of their own, so that strangers cannot push out the attempts of members.

/** How many days attempts are kept. */
export const attemptDays = 7;

const maxNamed = 400;
const maxNameless = 100;

/** Runs a sign-in whose state was accepted, and stores its claims and how far it came. */
export async function keepSsoAttempt<T>(
  ctx: Context,
  connectionId: string,
  signIn: (learn: (said: Said) => void) => Promise<T>,
): Promise<T> {
  let said: Said | undefined;
  try {
    const session = await signIn((learned) => {
      said = learned;
    });
    await keep(ctx, connectionId, { stage: 'session', ok: true, code: null }, said);
    return session;
  } catch (error) {
    await keepFailedAttempt(ctx, connectionId, error, said);
    throw error;
  }
}

/** Stores how far a sign-in came that failed with this error. */
export function keepFailedAttempt(
  ctx: Context,
  connectionId: string,
  error: unknown,
  said: Said | undefined,
): Promise<void> {
  const at = said === undefined ? 'token' : 'account';
  return keep(ctx, connectionId, { ...failureOf(error, at), ok: false }, said);
}

function keep(...attempt: Parameters<typeof record>): Promise<void> {
  const [ctx] = attempt;
  return record(...attempt).catch((error: unknown) => {
    ctx.log.warn({ err: error }, 'a sign-in attempt could not be stored');
  });
}

/** The claims of a person that an attempt keeps: the address and the groups. */
interface KeptClaims {
  /** The canonical address; null if there was none, or an invalid one. */
  email: string | null;
  /** The groups as received; null if there was no claim, or an unreadable one. */
  groups: string[] | null;
  /** Whether the groups claim was present but unreadable (security I7). */
  groupsMalformed: boolean;
}

/** Reduces the provider's claims to those that an attempt keeps. */
export function claimsToKeep({ email, groups }: Pick<Said, 'email' | 'groups'>): KeptClaims {
  return {
    email: 'address' in email ? email.address : null,
    groups: groups.known ? groups.groups : null,
    groupsMalformed: !groups.known && groups.why !== 'absent',
  };
}

interface Outcome {
  stage: AttemptStage;
  ok: boolean;
  code: string | null;
}

const noClaims: KeptClaims = { email: null, groups: null, groupsMalformed: false };

async function record(
  ctx: Context,
  connectionId: string,
  outcome: Outcome,
  said: Said | undefined,
) {
  await transaction(async () => {
    const connection = await SsoConnection.findByPk(connectionId);
    if (connection === null) return;
    const claims = said === undefined ? noClaims : claimsToKeep(said);
    const { now: at, requestId: reference } = ctx;
    await SsoAttempt.create({
      id: orderedId(),
      connectionId,
      at,
      reference,
      ...outcome,
      ...claims,
    });
    await dropOldest(connectionId, claims.email !== null);
  });
}

async function dropOldest(connectionId: string, named: boolean): Promise<void> {
  const alike = { connectionId, email: named ? { [Op.ne]: null } : null };
  const surplus = await SsoAttempt.findOne({
    where: alike,
    order: [['id', 'DESC']],
    offset: named ? maxNamed : maxNameless,
  });
  if (surplus !== null)
    await SsoAttempt.destroy({ where: { ...alike, id: { [Op.lte]: surplus.id } } });
}

/** Where and why the sign-in failed, in our codes. `at` is the stage if the error names none. */
function failureOf(error: unknown, at: AttemptStage): { stage: AttemptStage; code: string } {
  if (!(error instanceof Refusal)) return { stage: at, code: 'internal_error' };
  const { reason, failure, code } = error;
  if (failure === undefined || !('stage' in failure))
    return { stage: stageOf(reason, at), code: reason ?? code };
  return { stage: failure.stage, code: code === 'outbound_refused' ? code : failure.reason };
}

function stageOf(reason: Reason | undefined, at: AttemptStage): AttemptStage {
  switch (reason) {
    case 'connection_changed':
    case 'domain_not_verified':
      return 'connection';
    case 'refused_by_provider':
      return 'authorization';
    case 'subject_missing':
      return 'claims';
    case 'identity_conflict':
    case 'owner_not_approved':
      return 'account';
    case undefined:
      return at;
    default:
      return reason.startsWith('email_') ? 'claims' : 'session';
  }
}

/** Lists the last sign-ins through the organization's connection, newest first. */
export const listAttempts = operation({
  authority: 'sso.see',
  input: listAttemptsInput,
  output: attemptPage,
  run: async (_ctx, input, { organization }) => {
    const { id: connectionId } = await requireSsoConnection(organization);
    const before = input.cursor === undefined ? {} : { id: { [Op.lt]: input.cursor } };
    const wanted = input.reference === undefined ? {} : { reference: input.reference };
    return readPage(
      input,
      (_, limit) =>
        SsoAttempt.findAll({
          where: { connectionId, ...wanted, ...before },
          order: [['id', 'DESC']],
          limit,
        }),
      ({ id }) => id,
      view,
    );
  },
});

/**
 * The sign-in with this reference through a connection of the organization, or of any organization;
 * null if there is none.
 */
export async function findAttempt(reference: string, organizationId: string | null) {
  const { after, before } = idsAround(reference);
  const connections =
    organizationId === null ? {} : { connectionId: await findConnectionIds(organizationId) };
  const attempt = await SsoAttempt.findOne({
    where: { reference, ...connections, id: { [Op.gt]: after, [Op.lt]: before } },
  });
  return attempt === null ? null : view(attempt);
}

async function findConnectionIds(organizationId: string): Promise<string[]> {
  const where = { organizationId };
  const connections = await SsoConnection.findAll({ where, attributes: ['id'] });
  return connections.map(({ id }) => id);
}

function view(attempt: SsoAttempt) {
  const { id, at, connectionId, stage, ok, code, email, groups, groupsMalformed, reference } =
    attempt;
  return {
    id,
    at: at.toISOString(),
    connection: connectionId,
    stage,
    ok,
    ...(code === null ? {} : { code }),
    ...(email === null ? {} : { email }),
    ...(groups === null && !groupsMalformed ? {} : { groups }),
    ...(reference === null ? {} : { reference }),
  };
}
