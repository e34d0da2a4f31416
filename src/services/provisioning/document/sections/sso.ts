import { z } from 'zod';
import { connectionKinds } from '../../../../connection-kinds.ts';
import { SsoConnection } from '../../../../database/models/sso-connection.ts';
import { spare } from '../../../foundation/settings.ts';
import { openClientSecret, ssoSettings, ssoSettingsOf } from '../../../tenancy/connections/sso.ts';
import { requireSameClient } from '../../../tenancy/sso/connection.ts';
import { removeSso } from '../../../tenancy/sso/operations.ts';
import { applySso } from '../../../tenancy/sso/save.ts';
import { saveSsoInput } from '../../../tenancy/sso/schema.ts';
import type { Draft } from '../changes.ts';
import type { Wanted } from '../outside.ts';
import { namedSecret, planSecret, secretIn, sentSecret, unchanged } from '../secret-input.ts';
import { fingerprintOf } from '../secrets.ts';
import type { Apply, Read } from '../section.ts';
import { type ConnectionSteps, planConnection, type StoredConnection } from './connection.ts';
import type { DomainsState, DomainsSteps } from './domains.ts';
import type { OrganizationState } from './organization.ts';

const kind = connectionKinds.sso.name;
const settings = saveSsoInput.omit({ org: true });
const secret = settings.shape.clientSecret.unwrap().min(1);
const { emailDomain, issuer, clientId, ...others } = ssoSettings.shape;

const inputWith = <Secret extends z.ZodType>(clientSecret: Secret) =>
  settings
    .extend({ clientSecret: clientSecret.optional() })
    .nullable()
    .optional()
    .describe('The single sign-on connection; null for none.');
const input = inputWith(planSecret(secret));

interface SsoState {
  sso: (ReturnType<typeof ssoSettingsOf> & StoredConnection) | null;
}

type Given = z.output<typeof input>;
type Steps = ConnectionSteps<NonNullable<Given>>;
type SsoWanted = Wanted<OrganizationState & DomainsState & SsoState, { sso?: Given }>;

const read: Read<SsoState['sso']> = async (ctx, { id: organizationId }) => {
  const sso = await SsoConnection.findOne({ where: { organizationId } });
  return (
    sso && {
      ...ssoSettingsOf(sso),
      id: sso.id,
      secret: fingerprintOf(ctx, kind, openClientSecret(ctx, sso)),
    }
  );
};

function plan(draft: Draft<DomainsSteps>, wanted: SsoWanted): Steps {
  const given = wanted.document.sso;
  if (given === undefined) {
    planLostDomain(draft, wanted);
    return null;
  }
  return planConnection(draft, wanted, {
    kind,
    shape: settings.shape,
    given,
    stored: wanted.state.sso,
    requireSame: requireSameClient,
    domainOf: ({ emailDomain }) => emailDomain,
  });
}

/** Plans that single sign-on is disabled, if the plan removes the verified domain that it needs. */
function planLostDomain(
  draft: Draft<DomainsSteps>,
  { state: { sso, domains }, outside }: SsoWanted,
): void {
  if (sso === null || !sso.enabled || sso.emailDomain === undefined || outside.trusting) return;
  const lost = domains.some(({ name, state }) => name === sso.emailDomain && state === 'Verified');
  if (!lost || !draft.steps.domains.remove.includes(sso.emailDomain)) return;
  const fields = [{ field: 'enabled', from: true, to: false }];
  draft.changes.push({ section: kind, action: 'change', key: kind, fields });
}

const apply: Apply<{ sso: Steps }> = async (ctx, { id: org }, { sso }) => {
  if (sso === null) return;
  if (sso === 'remove') return void (await removeSso(ctx, { org }));
  const { clientSecret, ...settings } = sso.save;
  await applySso(ctx, { org, ...settings, clientSecret: secretIn(clientSecret) });
};

function view({ sso }: SsoState) {
  if (sso === null) return null;
  if (sso.emailDomain === undefined) return undefined;
  return spare(settings.shape, { ...sso, clientSecret: { unchanged: true } });
}

/** The section with the single sign-on connection. */
export const sso = {
  input,
  sent: inputWith(sentSecret(secret)),
  inFile: inputWith(namedSecret()),
  exported: z
    .object({ emailDomain, issuer, clientId, clientSecret: unchanged, ...others })
    .partial()
    .nullable()
    .optional(),
  read,
  plan,
  apply,
  view,
  cap: null,
};
