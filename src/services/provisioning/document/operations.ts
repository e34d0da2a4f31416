import { z } from 'zod';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { ref } from '../../foundation/fields.ts';
import { inTurn } from '../../foundation/limits/turns.ts';
import { operation } from '../../foundation/operation.ts';
import { fetchMetadata } from '../../tenancy/sso/metadata.ts';
import { requireReachable } from '../../tenancy/webhooks/operations.ts';
import { holdOrganization, performSteps } from './apply.ts';
import { planView } from './changes.ts';
import { admitDocument, type Computed, computePlan, requireDocumentRights } from './compute.ts';
import { documentOf } from './export.ts';
import { describeDocument, exportedDocument, plannedDocument, sentDocument } from './schema.ts';
import { withMetadata } from './sections/sso.ts';
import { readOrganizationState } from './state.ts';

// An organization as a document: export, plan and apply.

/** Exports the organization as a document, without secrets. */
export const exportOrganization = operation({
  authority: 'document.see',
  turn: 'computing',
  input: z.strictObject({ org: ref }),
  output: exportedDocument,
  run: async (ctx, _input, { organization }) => ({
    $schema: `${ctx.config.baseUrl}/api/v1/organization.schema.json`,
    ...documentOf(await readOrganizationState(ctx, organization)),
  }),
});

/** Describes the document as a JSON Schema. */
export const showDocumentSchema = operation({
  authority: 'public',
  input: z.strictObject({}),
  output: z.looseObject({ title: z.string() }),
  run: async () => describeDocument(),
});

const planInput = z.strictObject({
  org: ref,
  document: plannedDocument,
  prune: z.boolean().default(false),
});

function viewPlan({ changes, kept, losing, blocked, notCompared, digest }: Computed) {
  return { changes, kept, losing, blocked, notCompared, digest };
}

/**
 * Plans what an apply of the document would change, and who would lose access. If the document
 * contains the value of a secret, the actor needs the right to save that secret.
 */
export const planOrganization = operation({
  authority: 'document.see',
  prove: (ctx, input) => requireDocumentRights(ctx, 'document.see', input),
  turn: 'computing',
  input: planInput,
  output: planView,
  hints: true,
  run: async (ctx, input, { organization }) => {
    await admitDocument(ctx, organization, input);
    return viewPlan(await computePlan(ctx, organization, input));
  },
});

/**
 * Applies a planned document in one transaction. Each change requires the right that its separate
 * operation requires. Refuses with `plan_outdated` if the state or the document has changed since
 * the plan.
 */
export const applyOrganization = operation({
  authority: 'document.apply',
  prove: (ctx, input) => requireDocumentRights(ctx, 'document.apply', input),
  input: planInput.extend({ document: sentDocument, digest: z.string().max(100) }),
  output: planView.extend({ applied: z.literal(true) }),
  hints: true,
  run: async (ctx, input, { organization }) => {
    const planned = await inTurn(ctx, 'computing', organization, async () => {
      await admitDocument(ctx, organization, input);
      const computed = await computePlan(ctx, organization, input);
      requireSame(computed, input.digest);
      return computed;
    });
    // Slow look-ups must not use up the turn for computing work, and a transaction must not wait
    // for the network.
    const named = addressesIn(planned.steps);
    if (named.length > 0)
      await inTurn(ctx, 'network', organization, async () => {
        for (const { uri, field } of named) await requireReachable(ctx, uri, field);
      });
    const { metadataUrl } = planned;
    const metadata = metadataUrl && (await fetchMetadata(ctx, organization, metadataUrl));
    await inTurn(ctx, 'computing', organization, () =>
      transaction(async () => {
        await holdOrganization(ctx, organization, planned.steps);
        const { steps, digest } = await computePlan(ctx, organization, input);
        requireSame({ digest }, input.digest);
        await performSteps(ctx, organization, metadata ? withMetadata(steps, metadata) : steps);
      }),
    );
    return { ...viewPlan(planned), applied: true as const };
  },
});

/** The addresses that idctl would send messages to, each with its section. */
function addressesIn({ webhooks, clients: { add, change } }: Computed['steps']) {
  const clients = [...add, ...change.map(({ to }) => to)];
  return [
    ...webhooks.add.map(({ url: uri }) => ({ uri, field: 'document.webhooks' })),
    ...clients.flatMap(({ backchannelLogoutUri: uri }) =>
      uri === null ? [] : [{ uri, field: 'document.clients' }],
    ),
  ];
}

function requireSame({ digest }: Pick<Computed, 'digest'>, planned: string): void {
  if (digest === planned) return;
  throw new Refusal(
    'plan_outdated',
    'The organization or the document has changed since the plan.',
    {
      hint: 'Plan again, review the new plan, and apply it.',
    },
  );
}
