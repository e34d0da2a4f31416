import { z } from 'zod';
import { connectionKinds } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { refuseField } from '../../../errors.ts';
import { outcomeOf, stepOf } from '../../../finding.ts';
import { parse } from '../../../input.ts';
import { testSteps } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { openClientSecret, redirectUriOf } from '../connections/sso.ts';
import { findWaiting, testsStored } from '../connections/waiting.ts';
import { requireSameClient, requireSsoConnection } from './connection.ts';
import { changeSsoInput, saveSsoInput } from './schema.ts';

/** The settings to test instead of the stored ones. Only issuer, client and redirect URI matter. */
const testInput = changeSsoInput.extend({
  redirectUri: changeSsoInput.shape.redirectUri.unwrap().nullable().optional(),
  enabled: z.boolean().optional(),
});
const testView = z.object({ ok: z.boolean(), message: z.string(), steps: testSteps });

const passed = 'All checks passed. Now sign in with a browser.';

/** Tests the provider step by step; given settings replace the stored ones. */
export const testSso = operation({
  authority: 'sso.test',
  turn: 'network',
  input: testInput,
  output: testView,
  hints: true,
  run: async (ctx, input, { organization }) => {
    const { client, waiting } = await clientOf(ctx, organization, input);
    const isOperator = ctx.actor.kind === 'operator';
    const steps = await ctx.outbound.examineProvider(client, ctx.now, isOperator);
    if (waiting !== null) steps.push(stepOf('approval', 'an owner has approved it', waiting));
    return outcomeOf(steps, passed);
  },
});

const { issuer, clientId, clientSecret, redirectUri } = saveSsoInput.shape;
const clientInput = z.object({ issuer, clientId, clientSecret, redirectUri });

type TestInput = z.output<typeof testInput>;

async function clientOf(ctx: Context, organization: Organization, input: TestInput) {
  const stored =
    input.issuer === undefined
      ? await requireSsoConnection(organization)
      : await SsoConnection.findOne({ where: { organizationId: organization.id } });
  const { issuer, clientId, redirectUri } = stored ?? {};
  const client = parse(clientInput, { issuer, clientId, redirectUri, ...input });
  return {
    client: {
      issuer: client.issuer,
      clientId: client.clientId,
      clientSecret: client.clientSecret || storedSecret(ctx, stored, client),
      redirectUri: redirectUriOf(ctx, client),
    },
    waiting:
      stored !== null && testsStored(input)
        ? findWaiting(stored, connectionKinds.sso.name, organization.slug)
        : null,
  };
}

function storedSecret(
  ctx: Context,
  stored: SsoConnection | null,
  client: { issuer: string; clientId: string },
): string {
  if (stored === null) throw refuseField('clientSecret', 'is required');
  requireSameClient(stored, client);
  return openClientSecret(ctx, stored);
}
