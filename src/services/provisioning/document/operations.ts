import { z } from 'zod';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { ref } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { requireReachable } from '../../tenancy/webhooks/operations.ts';
import { holdOrganization, performSteps } from './apply.ts';
import { planView } from './changes.ts';
import { admitDocument, type Computed, computePlan } from './compute.ts';
import { documentOf } from './export.ts';
import { describeDocument, exportedDocument, sentDocument } from './schema.ts';
import { readOrganizationState } from './state.ts';

// An organization as a document: export, plan and apply.

/** Exports the organization as a document, without secrets. */
export const exportOrganization = operation({
  authority: 'document.see',
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
  document: sentDocument,
  prune: z.boolean().default(false),
});

function viewPlan({ changes, kept, losing, blocked, digest }: Computed) {
  return { changes, kept, losing, blocked, digest };
}

/**
 * Plans what an apply of the document would change, and who would lose access. If the document
 * contains the value of a secret, the actor needs the right to save that secret.
 */
export const planOrganization = operation({
  authority: 'document.see',
  input: planInput,
  output: planView,
  run: async (ctx, input, { organization }) => {
    await admitDocument(ctx, organization, input);
    return viewPlan(await computePlan(ctx, organization, input));
  },
});

/**
 * Applies a planned document in one transaction. Each change requires the right that its separate
 * operation requires. Refuses `plan_outdated` if the state or the document has changed since the
 * plan.
 */
export const applyOrganization = operation({
  authority: 'document.apply',
  input: planInput.extend({ digest: z.string().max(100) }),
  output: planView.extend({ applied: z.literal(true) }),
  run: async (ctx, input, { organization }) => {
    await admitDocument(ctx, organization, input);
    const planned = await computePlan(ctx, organization, input);
    requireSame(planned, input.digest);
    // Host names are resolved here: a transaction must not wait for the network.
    for (const { url } of planned.steps.addWebhooks)
      await requireReachable(ctx, url, 'document.webhooks');
    const clients = [
      ...planned.steps.addClients,
      ...planned.steps.changeClients.map(({ to }) => to),
    ];
    for (const { backchannelLogoutUri: uri } of clients)
      if (uri !== null) await requireReachable(ctx, uri, 'document.clients');
    await transaction(async () => {
      await holdOrganization(organization, planned.steps);
      const { steps, digest } = await computePlan(ctx, organization, input);
      requireSame({ digest }, input.digest);
      await performSteps(ctx, organization, steps);
    });
    return { ...viewPlan(planned), applied: true as const };
  },
});

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
