import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { connectionKinds } from '../../../../connection-kinds.ts';
import { SsoConnection, type StoredMetadata } from '../../../../database/models/sso-connection.ts';
import { spare } from '../../../foundation/settings.ts';
import { openClientSecret, ssoSettings, ssoSettingsOf } from '../../../tenancy/connections/sso.ts';
import { requireSameClient } from '../../../tenancy/sso/connection.ts';
import { metadataText } from '../../../tenancy/sso/metadata-text.ts';
import { removeSso } from '../../../tenancy/sso/operations.ts';
import { applySso, type Prepared } from '../../../tenancy/sso/save.ts';
import { settingsOfKind } from '../../../tenancy/sso/schema.ts';
import type { Draft } from '../changes.ts';
import type { Wanted } from '../outside.ts';
import { namedSecret, planSecret, secretIn, sentSecret, unchanged } from '../secret-input.ts';
import { fingerprintOf } from '../secrets.ts';
import type { Apply, Read } from '../section.ts';
import {
  type ConnectionSave,
  type ConnectionSteps,
  planConnection,
  type StoredConnection,
} from './connection.ts';
import type { DomainsState, DomainsSteps } from './domains.ts';
import type { OrganizationState } from './organization.ts';

const kind = connectionKinds.sso.name;
const { oidc, saml } = settingsOfKind;
const secret = oidc.shape.clientSecret.unwrap().min(1);
const { emailDomain, issuer, clientId, kind: protocol, ...others } = ssoSettings.shape;

const inputWith = <Secret extends z.ZodType>(clientSecret: Secret) =>
  z
    .discriminatedUnion('kind', [oidc.extend({ clientSecret: clientSecret.optional() }), saml])
    .nullable()
    .optional()
    .describe('The single sign-on connection; null for none.');
const input = inputWith(planSecret(secret));

interface SsoState {
  sso:
    | (ReturnType<typeof ssoSettingsOf> & StoredConnection & Pick<SsoConnection, 'metadata'>)
    | null;
}

type Given = z.output<typeof input>;
type Save = NonNullable<Given>;
/** `metadata` is what an apply stores; null to keep the stored metadata. */
type Steps = Exclude<ConnectionSteps<Save>, object> | (ConnectionSave<Save> & Prepared);
type SsoWanted = Wanted<OrganizationState & DomainsState & SsoState, { sso?: Given }>;

const read: Read<SsoState['sso']> = async (ctx, { id: organizationId }) => {
  const sso = await SsoConnection.findOne({ where: { organizationId } });
  return (
    sso && {
      ...ssoSettingsOf(sso),
      metadata: sso.metadata,
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
  const stored = wanted.state.sso;
  const { metadata } = wanted.outside;
  const isSame = metadata === null || isDeepStrictEqual(metadata, stored?.metadata);
  const steps = planConnection(draft, wanted, {
    kind,
    shape: settingsOfKind[given?.kind ?? 'oidc'].shape,
    given: withoutText(given),
    stored,
    requireSame: given?.kind === 'saml' ? null : requireSameOidc,
    further: isSame ? [] : [{ field: 'metadataXml', changed: true }],
    domainOf: ({ emailDomain }) => emailDomain,
  });
  return steps !== null && steps !== 'remove' ? { ...steps, metadata } : steps;
}

/** The settings without the text of the metadata, which is compared by what it says. */
function withoutText(given: Save | null): Save | null {
  if (given?.kind !== 'saml') return given;
  const { metadataXml: _, ...settings } = given;
  return settings;
}

function requireSameOidc(stored: NonNullable<SsoState['sso']>, given: Save): void {
  if (given.kind === 'oidc') requireSameClient('issuer' in stored ? stored : {}, given);
}

/** The metadata URL that an apply has to read, because the plan changes it; null for none. */
export function metadataUrlIn({ sso }: { sso: Steps }, state: SsoState): string | null {
  if (sso === null || sso === 'remove' || sso.save.kind !== 'saml') return null;
  const { metadataUrl } = sso.save;
  const stored = state.sso;
  return stored !== null && 'metadataUrl' in stored && stored.metadataUrl === metadataUrl
    ? null
    : metadataUrl;
}

/** The steps of an apply that has read the metadata at the URL. */
export function withMetadata<All extends { sso: Steps }>(
  steps: All,
  metadata: StoredMetadata,
): All {
  const { sso } = steps;
  return sso === null || sso === 'remove' ? steps : { ...steps, sso: { ...sso, metadata } };
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
  const { save, metadata } = sso;
  const settings =
    save.kind === 'saml' ? save : { ...save, clientSecret: secretIn(save.clientSecret) };
  await applySso(ctx, org, settings, { metadata });
};

function view({ sso }: SsoState) {
  if (sso === null) return null;
  if (sso.emailDomain === undefined) return undefined;
  if (sso.kind === 'oidc') return spare(oidc.shape, { ...sso, clientSecret: { unchanged: true } });
  const isText = !('metadataUrl' in sso) || sso.metadataUrl === null;
  const text = isText && sso.metadata !== null ? { metadataXml: metadataText(sso.metadata) } : {};
  return { kind: sso.kind, ...spare(saml.shape, { ...sso, ...text }) };
}

/** The section with the single sign-on connection. */
export const sso = {
  input,
  sent: inputWith(sentSecret(secret)),
  inFile: inputWith(namedSecret()),
  exported: z
    .object({
      ...{ kind: protocol, emailDomain, issuer, clientId, clientSecret: unchanged },
      ...{ metadataXml: z.string(), ...others },
    })
    .partial()
    .nullable()
    .optional(),
  read,
  plan,
  apply,
  view,
  cap: null,
};
