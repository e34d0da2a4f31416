import { z } from 'zod';
import { connectionKinds } from '../../../../connection-kinds.ts';
import { LdapConnection } from '../../../../database/models/ldap-connection.ts';
import { spare } from '../../../foundation/settings.ts';
import {
  directorySettings,
  directorySettingsOf,
  openBindPassword,
} from '../../../tenancy/connections/ldap.ts';
import { requireSameServer } from '../../../tenancy/ldap/connection.ts';
import { removeLdap } from '../../../tenancy/ldap/operations.ts';
import { applyLdap } from '../../../tenancy/ldap/save.ts';
import { saveLdapInput } from '../../../tenancy/ldap/schema.ts';
import type { Draft } from '../changes.ts';
import type { Wanted } from '../outside.ts';
import { namedSecret, planSecret, secretIn, sentSecret, unchanged } from '../secret-input.ts';
import { fingerprintOf } from '../secrets.ts';
import type { Apply, Read } from '../section.ts';
import { type ConnectionSteps, planConnection, type StoredConnection } from './connection.ts';
import type { DomainsState, DomainsSteps } from './domains.ts';
import type { OrganizationState } from './organization.ts';

const kind = connectionKinds.ldap.name;
const settings = saveLdapInput.omit({ org: true });
const secret = settings.shape.bindPassword.unwrap().min(1);
const { uri, tls, caCertificate, bindDn, ...others } = directorySettings.shape;

const inputWith = <Secret extends z.ZodType>(bindPassword: Secret) =>
  settings
    .extend({ bindPassword: bindPassword.optional() })
    .nullable()
    .optional()
    .describe('The directory; null for none.');
const input = inputWith(planSecret(secret));

const exported = z.object({
  uri,
  tls,
  caCertificate,
  bindDn,
  bindPassword: unchanged,
  ...others,
  enabled: z.boolean(),
});

interface LdapState {
  ldap: (ReturnType<typeof directorySettingsOf> & { enabled: boolean } & StoredConnection) | null;
}

type Given = z.output<typeof input>;
type Steps = ConnectionSteps<NonNullable<Given>>;
type LdapWanted = Wanted<OrganizationState & DomainsState & LdapState, { ldap?: Given }>;

const read: Read<LdapState['ldap']> = async (ctx, { id: organizationId }) => {
  const ldap = await LdapConnection.findOne({ where: { organizationId } });
  return (
    ldap && {
      ...directorySettingsOf(ldap),
      enabled: ldap.enabled,
      id: ldap.id,
      secret: fingerprintOf(ctx, kind, openBindPassword(ctx, ldap)),
    }
  );
};

function plan(draft: Draft<DomainsSteps>, wanted: LdapWanted): Steps {
  const given = wanted.document.ldap;
  if (given === undefined) return null;
  return planConnection(draft, wanted, {
    kind,
    shape: settings.shape,
    given,
    stored: wanted.state.ldap,
    requireSame: requireSameServer,
    domainOf: () => null,
  });
}

const apply: Apply<{ ldap: Steps }> = async (ctx, { id: org }, { ldap }) => {
  if (ldap === null) return;
  if (ldap === 'remove') return void (await removeLdap(ctx, { org }));
  const { bindPassword, ...settings } = ldap.save;
  await applyLdap(ctx, { org, ...settings, bindPassword: secretIn(bindPassword) });
};

function view({ ldap }: LdapState) {
  if (ldap === null) return null;
  return spare(settings.shape, { ...ldap, bindPassword: { unchanged: true } });
}

/** The section with the directory. */
export const ldap = {
  input,
  sent: inputWith(sentSecret(secret)),
  inFile: inputWith(namedSecret()),
  exported: exported.partial().nullable(),
  read,
  plan,
  apply,
  view,
  cap: null,
};
