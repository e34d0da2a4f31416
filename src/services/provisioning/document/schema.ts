import { z } from 'zod';
import { type ConnectionKindName, connectionKindNames } from '../../../connection-kinds.ts';
import { maxCounted } from '../../../errors.ts';
import { cut } from '../../../text/cut.ts';
import { domain, email, name, projectRole, role, slug } from '../../foundation/fields.ts';
import { documentCaps } from '../../foundation/limits/caps.ts';
import { list } from '../../foundation/list.ts';
import { changedSettings, clientSettings } from '../../tenancy/clients/fields.ts';
import { directorySettings } from '../../tenancy/connections/ldap.ts';
import { ssoSettings } from '../../tenancy/connections/sso.ts';
import { saveLdapInput } from '../../tenancy/ldap/schema.ts';
import { signInSettingsView } from '../../tenancy/signin-settings/operations.ts';
import { saveSsoInput } from '../../tenancy/sso/schema.ts';
import { webhookEvents, webhookUrl } from '../../tenancy/webhooks/webhook.ts';
import { groupName, orgRole, refuseMixed } from '../mappings/view.ts';

// The document of an organization, which an admin reviews, plans and applies.

/** The only version of the document format. */
export const documentVersion = 1;

const unchanged = z.strictObject({
  unchanged: z.literal(true).describe('Keep the stored secret.'),
});

const withheld = z.strictObject({
  withheld: z.literal(true).describe('Plan with a secret that is not sent, and not compared.'),
});

const onlyInFile = 'env and file work only in a document that idctl reads';

/** A secret as sent to the server: its value, or `unchanged` to keep the stored one. */
const sentSecret = <Value extends z.ZodType>(value: Value) =>
  z.union(
    [z.strictObject({ value }), unchanged],
    `must be {value: …} or {unchanged: true}; ${onlyInFile}`,
  );

/** A secret as sent for a plan only: it may also stay with the sender (security X12). */
const planSecret = <Value extends z.ZodType>(value: Value) =>
  z.union(
    [z.strictObject({ value }), unchanged, withheld],
    `must be {value: …}, {unchanged: true} or {withheld: true}; ${onlyInFile}`,
  );

/** A secret in the admin's file: `env` and `file` are read where the command runs. */
const namedSecret = () =>
  z.union([
    z.strictObject({
      env: z
        .string()
        .describe(
          'The environment variable with the secret: IDCTL_SECRET_*, or one that --allow-env names.',
        ),
    }),
    z.strictObject({
      file: z
        .string()
        .describe('The file with the secret, below the folder of the document or --secrets.'),
    }),
    unchanged,
  ]);

/** Refuses a second entry of the same name, with its position in the list. */
function distinct<Entry>(nameOf: (entry: Entry) => string) {
  return (entries: Entry[], ctx: z.RefinementCtx): void => {
    const seen = new Set<string>();
    for (const [at, entry] of entries.entries()) {
      const named = nameOf(entry);
      if (seen.has(named)) {
        const message = `${cut(named, 100)} is listed twice`;
        ctx.addIssue({ code: 'custom', path: [at], message });
      }
      if (ctx.issues.length >= maxCounted) return;
      seen.add(named);
    }
  };
}

/** The most entries of a list in a document (security O15). */
const maxEntries = 10_000;

/** More than an organization can add: projects above the cap stay (security O15). */
const maxProjects = 100_000;

const listOf = <Entry extends z.ZodType>(
  entry: Entry,
  nameOf: (entry: z.output<Entry>) => string,
  about: string,
  most = maxEntries,
) => list(entry, most).superRefine(distinct(nameOf)).describe(about);

const mapping = z
  .strictObject({
    group: groupName,
    project: slug.optional(),
    role: projectRole.optional(),
    orgRole: orgRole.optional(),
  })
  .superRefine(refuseMixed);
const person = z.strictObject({ email, role });
const projectMember = z.strictObject({ email, role: projectRole });
const project = z.strictObject({
  slug,
  name,
  members: listOf(
    projectMember,
    (entry) => entry.email,
    'The members that were added manually.',
  ).optional(),
});
const webhook = z.strictObject({
  url: webhookUrl,
  events: webhookEvents.default(['*']),
  enabled: z.boolean().default(true),
});

const client = z.strictObject({ ...clientSettings, project: slug.nullable().default(null) });

/** A client in a document, with its defaults. */
export type WantedClient = z.output<typeof client>;

/** Identifies a mapping in a plan. Project slugs and roles contain no slash. */
export function nameOfMapping({ group, project, role, orgRole }: z.output<typeof mapping>): string {
  return orgRole === undefined ? `${project}/${role}/${group}` : `organization/${orgRole}/${group}`;
}

/** The settings of each kind of connection in a document. */
export const connectionInputs = {
  sso: saveSsoInput.omit({ org: true }),
  ldap: saveLdapInput.omit({ org: true }),
} satisfies Record<ConnectionKindName, z.ZodObject>;
const { sso, ldap } = connectionInputs;

function documentWith<Client extends z.ZodType, Bind extends z.ZodType>(
  clientSecret: Client,
  bindPassword: Bind,
) {
  return z.strictObject({
    $schema: z.string().optional().describe('The URL where an editor finds this schema.'),
    aboveCaps: z.unknown().optional().describe('Written by an export, and ignored.'),
    idctl: z.literal(documentVersion, `must be ${documentVersion}, the version of the document`),
    organization: z
      .strictObject({ slug: z.string().describe('The slug never changes.'), name })
      .optional(),
    domains: listOf(
      z.strictObject({ domain }),
      (entry) => entry.domain,
      'The e-mail domains.',
    ).optional(),
    sso: sso
      .extend({ clientSecret: clientSecret.optional() })
      .nullable()
      .optional()
      .describe('The single sign-on connection; null for none.'),
    ldap: ldap
      .extend({ bindPassword: bindPassword.optional() })
      .nullable()
      .optional()
      .describe('The directory; null for none.'),
    projects: listOf(
      project,
      (entry) => entry.slug,
      'The projects, by slug.',
      maxProjects,
    ).optional(),
    mappings: listOf(
      mapping,
      nameOfMapping,
      'Groups and the roles that they give.',
      documentCaps.mappings,
    ).optional(),
    members: listOf(
      person,
      (entry) => entry.email,
      'Members, except those that joined through single sign-on, LDAP or SCIM.',
      documentCaps.members,
    ).optional(),
    signin: z
      .strictObject(signInSettingsView.partial().shape)
      .optional()
      .describe('The sign-in settings. An absent setting follows the instance.'),
    webhooks: listOf(webhook, (entry) => entry.url, 'The webhooks, by URL.').optional(),
    clients: listOf(client, (entry) => entry.name, 'The clients, by name.').optional(),
  });
}

const clientSecret = sso.shape.clientSecret.unwrap().min(1);
const bindPassword = ldap.shape.bindPassword.unwrap().min(1);

/** The document as sent to the server. */
export const sentDocument = documentWith(sentSecret(clientSecret), sentSecret(bindPassword));

/** The document as sent for a plan. */
export const plannedDocument = documentWith(planSecret(clientSecret), planSecret(bindPassword));

/** The document with all defaults filled in. */
export type Document = z.output<typeof plannedDocument>;

/** The settings of a connection in a document. */
export type WantedConnection<Kind extends ConnectionKindName> = NonNullable<Document[Kind]>;

/** The name of a section of the document. */
export type Section = (typeof sections)[number];

/** The sections of a document, in the order of an export. */
export const sections = [
  'organization',
  'domains',
  ...connectionKindNames,
  'mappings',
  'projects',
  'members',
  'signin',
  'webhooks',
  'clients',
] as const satisfies readonly (keyof Document)[];

const section = z.enum(sections);

const { emailDomain, issuer, clientId, ...otherSso } = ssoSettings.shape;
const { uri, tls, caCertificate, bindDn, ...otherLdap } = directorySettings.shape;
const exportedSso = { emailDomain, issuer, clientId, clientSecret: unchanged, ...otherSso };
const exportedLdap = {
  uri,
  tls,
  caCertificate,
  bindDn,
  bindPassword: unchanged,
  ...otherLdap,
  enabled: z.boolean(),
};

/** The exported document. It has no secrets. Connections and clients omit default values. */
export const exportedDocument = z.object({
  $schema: z.string(),
  idctl: z.literal(documentVersion),
  organization: z.object({ slug: z.string(), name: z.string() }),
  domains: z.array(z.object({ domain: z.string() })),
  sso: z.object(exportedSso).partial().nullable().optional(),
  ldap: z.object(exportedLdap).partial().nullable(),
  mappings: z.array(
    z.object({
      group: z.string(),
      project: z.string().optional(),
      role: projectRole.optional(),
      orgRole: orgRole.optional(),
    }),
  ),
  projects: z.array(
    z.object({
      slug: z.string(),
      name: z.string(),
      members: z.array(z.object({ email: z.string(), role: projectRole })),
    }),
  ),
  members: z.array(z.object({ email: z.string(), role })),
  signin: signInSettingsView.partial(),
  webhooks: z.array(
    z.object({ url: z.string(), events: z.array(z.string()), enabled: z.boolean() }),
  ),
  clients: z.array(z.object({ ...changedSettings, name: z.string() })),
  aboveCaps: z
    .array(z.object({ section, entries: z.int(), most: z.int() }))
    .optional()
    .describe('The sections above a cap. Their entries stay, but none can be added.'),
});

/** The JSON Schema of the file that an admin writes. */
export function describeDocument() {
  const described = z.toJSONSchema(documentWith(namedSecret(), namedSecret()), {
    io: 'input',
    unrepresentable: 'any',
  });
  return { ...described, title: 'An organization of idctl' };
}
