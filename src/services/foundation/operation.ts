import type { z } from 'zod';
import type { Actor, Context } from '../../context.ts';
import type { Along } from '../../database/along.ts';
import type { Organization } from '../../database/models/organization.ts';
import { rehearse, requiringFirst } from '../../database/transaction.ts';
import {
  requireAuthority,
  requireCaller,
  requireOperator,
  requireProjectAuthority,
  requireUser,
  type Standing,
  type Within,
} from './authority/require.ts';
import {
  isAboutOneself,
  isAboutProject,
  type OrganizationRight,
  type OwnRight,
  type ProjectRight,
  type Right,
  ruleOf,
  type SecondFactorRight,
} from './authority/table.ts';
import type { Ending } from './ending.ts';
import { stopIfGone } from './gone.ts';
import { inTurn, type TurnKind } from './limits/turns.ts';

/** The right that an operation needs: a row of the table, `operator`, or `public` for none. */
type Authority = OrganizationRight | ProjectRight | OwnRight | 'operator' | 'public';

type Proved<Needed extends Authority> = Needed extends ProjectRight
  ? Within
  : Needed extends OrganizationRight
    ? Standing
    : Needed extends OwnRight
      ? Actor & { kind: 'user' }
      : undefined;

interface Definition<
  Needed extends Authority,
  Input extends z.ZodObject,
  Output extends z.ZodType,
  View,
  Proof,
  Prepared,
> {
  authority: Needed;
  /**
   * Checks the right if a row alone does not describe it. Must never require less than `authority`.
   */
  prove?: (ctx: Context, input: z.output<Input>) => Proof | Promise<Proof>;
  /**
   * Whether this input gives others access, although the row has another effect. Then the right is
   * required until the transaction ends.
   */
  letsIn?: (input: z.output<Input>) => boolean;
  /** If set, the work waits for the organization's turn after the right is checked. */
  turn?: TurnKind;
  /** What HTTP reads of the caller's account together with the credential. */
  along?: Along<object>;
  /** Every field, including those of a path: an organization is `org`, a project `project`. */
  input: Input;
  /** The fields of the answer. Without it, the answer over HTTP is empty. */
  output?: Output;
  /** The view has hints (`nextText`), which each door turns into text. */
  hints?: true;
  /** What it ends, for an operation that people confirm. */
  ends?: Ending<View, z.output<Input>>;
  /**
   * Reads what `run` needs from the network, outside of every transaction: `run` may be rehearsed in
   * one.
   */
  prepare?: (ctx: Context, input: z.output<Input>, proof: Proof) => Promise<Prepared>;
  run: (
    ctx: Context,
    input: z.output<Input>,
    proof: Proof,
    prepared: NoInfer<Prepared>,
  ) => Promise<View>;
}

/** One operation of idctl. Call it with checked input; it checks the authority itself. */
export interface Operation<Input extends z.ZodObject, Output extends z.ZodType, View> {
  (ctx: Context, input: z.output<Input>): Promise<View>;
  /**
   * Does first what must not be done in a transaction, and rolls back every write. Only operations
   * that wait for a turn or for the network have it.
   */
  readonly rehearse?: (ctx: Context, input: z.output<Input>) => Promise<View>;
  readonly authority: Authority;
  readonly input: Input;
  readonly output: Output | undefined;
  readonly hints?: true;
  readonly ends?: Ending<View, z.output<Input>>;
  readonly along?: Along<object>;
}

/**
 * Creates an operation. `run` gets the result of the check: organization, role and project, or the
 * person.
 */
export function operation<
  Needed extends Authority,
  Input extends z.ZodObject,
  Output extends z.ZodType,
  View extends z.input<Output>,
  Proof = Proved<Needed>,
  Prepared = undefined,
>(
  definition: Definition<Needed, Input, Output, View, Proof, Prepared>,
): Operation<Input, Output, View> {
  const { authority, turn, input, output, hints, ends, along, prepare, run } = definition;
  const performing =
    (around: (work: () => Promise<View>) => Promise<View>) =>
    async (ctx: Context, given: z.output<Input>): Promise<View> => {
      const proveNow = () => (definition.prove ?? proveRow)(ctx, given);
      const proof = await proveNow();
      const work = async () => {
        stopIfGone(ctx);
        // Without `prepare`, `Prepared` is undefined.
        const prepared = (await prepare?.(ctx, given, proof)) as Prepared;
        if (!mayEnd(ctx, authority)) return around(() => run(ctx, given, proof, prepared));
        const proveAgain = async () => {
          await ctx.authenticateAgain?.();
          await proveNow();
        };
        const toEnd = isLettingIn(authority) || definition.letsIn?.(given) === true;
        const running = () => around(() => run(ctx, given, proof, prepared));
        return requiringFirst(proveAgain, running, { toEnd });
      };
      return turn === undefined ? work() : inTurn(ctx, turn, organizationOf(proof), work);
    };
  // If the definition has no `prove`, `Proof` is `Proved<Needed>`, the type that this returns.
  const proveRow = (ctx: Context, given: z.output<Input>) =>
    prove(ctx, authority, given) as Promise<Proof>;
  const waits = turn !== undefined || prepare !== undefined;
  const own = waits ? { rehearse: performing(rehearse) } : {};
  return Object.assign(
    performing((work) => work()),
    {
      ...own,
      ...(hints && { hints }),
      ...(ends && { ends }),
      ...(along && { along }),
      authority,
      input,
      output,
    },
  );
}

/**
 * Checks as much of the required right as `known`, the fields of the path, determines. HTTP calls
 * it before it reads a body. The operation checks the whole right itself.
 */
export async function requireWithoutBody(
  ctx: Context,
  authority: Right | 'public',
  known: Record<string, unknown>,
): Promise<void> {
  if (authority === 'public') return;
  const isAbout = (field: string) => ruleOf(authority).least === 'user' || field in known;
  if (isProvedBy(authority) && isAbout('org')) await prove(ctx, authority, known);
  else requireCaller(ctx, authority);
}

/** Whether the right to write may end while a transaction waits to begin (security P2). */
function mayEnd({ actor }: Context, authority: Authority): boolean {
  if (actor.kind === 'operator' || authority === 'operator' || authority === 'public') return false;
  return ruleOf(authority).effect !== 'reads';
}

function isLettingIn(authority: Authority): boolean {
  return (
    authority !== 'public' && authority !== 'operator' && ruleOf(authority).effect === 'letsIn'
  );
}

/** Whether a row, an organization and a project are enough to check the right. */
function isProvedBy(right: Right): right is Exclude<Right, SecondFactorRight> {
  return ruleOf(right).secondFactor === undefined;
}

async function prove(ctx: Context, authority: Authority, input: Record<string, unknown>) {
  if (authority === 'public') return undefined;
  if (authority === 'operator') return requireOperator(ctx);
  if (isAboutOneself(authority)) return requireUser(ctx, authority);
  const org = text(input, 'org');
  if (!isAboutProject(authority)) return requireAuthority(ctx, authority, org);
  return requireProjectAuthority(ctx, authority, { org, project: text(input, 'project') });
}

function organizationOf(proof: unknown): Organization {
  // Only the result for an organization has this field: a Standing or a Within.
  if (typeof proof === 'object' && proof !== null && 'organization' in proof)
    return proof.organization as Organization;
  throw new Error('an operation without an organization has a turn');
}

/** The organization or project that the input names. */
function text(input: Record<string, unknown>, field: 'org' | 'project'): string {
  const value = input[field];
  if (typeof value === 'string') return value;
  throw new Error(`an operation about an organization or a project has no ${field} in its input`);
}
