import { z } from 'zod';
import { connectionKinds } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { SsoConnection, type SsoKind } from '../../../database/models/sso-connection.ts';
import { refuseField } from '../../../errors.ts';
import { outcomeOf, type Step, stepOf } from '../../../finding.ts';
import { parse } from '../../../input.ts';
import { testSteps } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { openClientSecret, redirectUriOf } from '../connections/sso.ts';
import { findWaiting, testsStored } from '../connections/waiting.ts';
import { requireSameClient, requireSsoConnection } from './connection.ts';
import { examineMetadata, type TestedConnection } from './examine-metadata.ts';
import { changeSsoInput, settingsOfKind } from './schema.ts';

/** The settings to test instead of the stored ones. Only those of the provider matter. */
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
    const stored = await SsoConnection.findOne({ where: { organizationId: organization.id } });
    const kind = kindOf(input, stored);
    const steps = await examine[kind](ctx, input, { organization, stored });
    const isStored = stored !== null && testsStored(input, ['kind']) && stored.kind === kind;
    const waiting = isStored
      ? findWaiting(stored, connectionKinds.sso.name, organization.slug)
      : null;
    if (waiting !== null) steps.push(stepOf('approval', 'an owner has approved it', waiting));
    return outcomeOf(steps, passed);
  },
});

type TestInput = z.output<typeof testInput>;

function kindOf(
  { kind, metadataUrl, metadataXml, issuer }: TestInput,
  stored: SsoConnection | null,
) {
  if (kind !== undefined) return kind;
  if (issuer !== undefined) return 'oidc';
  return metadataUrl || metadataXml ? 'saml' : (stored?.kind ?? 'oidc');
}

const examine: Record<
  SsoKind,
  (ctx: Context, input: TestInput, at: TestedConnection) => Promise<Step[]>
> = {
  oidc: async (ctx, input, at) => {
    const client = await clientOf(ctx, input, at);
    return ctx.outbound.examineProvider(client, ctx.now, ctx.actor.kind === 'operator');
  },
  saml: async (ctx, input, at) => {
    const stored = at.stored?.kind === 'saml' ? at.stored : null;
    const given = input.metadataUrl || input.metadataXml;
    if (!given && stored === null) await requireSsoConnection(at.organization);
    return examineMetadata(ctx, input, { ...at, stored: given ? null : stored });
  },
};

const { issuer, clientId, clientSecret, redirectUri } = settingsOfKind.oidc.shape;
const clientInput = z.object({ issuer, clientId, clientSecret, redirectUri });

async function clientOf(
  ctx: Context,
  input: TestInput,
  { organization, stored }: TestedConnection,
) {
  if (input.issuer === undefined) await requireSsoConnection(organization);
  const known = stored?.kind === 'oidc' ? stored : null;
  const { issuer, clientId, redirectUri } = known ?? {};
  const client = parse(clientInput, { issuer, clientId, redirectUri, ...input });
  return {
    issuer: client.issuer,
    clientId: client.clientId,
    clientSecret: client.clientSecret || storedSecret(ctx, known, client),
    redirectUri: redirectUriOf(ctx, client),
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
