import { z } from 'zod';
import { type SectionName, sectionNames } from './section.ts';
import { sections } from './sections.ts';

// The document of an organization, which an admin reviews, plans and applies.

/** The only version of the document format. */
export const documentVersion = 1;

/** The document, with the given forms of the sections that have a secret. */
function documentWith<Sso extends z.ZodType, Ldap extends z.ZodType>(sso: Sso, ldap: Ldap) {
  const inputs = {
    organization: sections.organization.input,
    domains: sections.domains.input,
    sso,
    ldap,
    projects: sections.projects.input,
    mappings: sections.mappings.input,
    members: sections.members.input,
    signin: sections.signin.input,
    webhooks: sections.webhooks.input,
    clients: sections.clients.input,
  } satisfies Record<SectionName, z.ZodType>;
  return z.strictObject({
    $schema: z.string().optional().describe('The URL where an editor finds this schema.'),
    aboveCaps: z.unknown().optional().describe('Written by an export, and ignored.'),
    idctl: z.literal(documentVersion, `must be ${documentVersion}, the version of the document`),
    ...inputs,
  });
}

/** The document as sent to the server. */
export const sentDocument = documentWith(sections.sso.sent, sections.ldap.sent);

/** The document as sent for a plan. */
export const plannedDocument = documentWith(sections.sso.input, sections.ldap.input);

/** The document with all defaults filled in. */
export type Document = z.output<typeof plannedDocument>;

const exported = {
  organization: sections.organization.exported,
  domains: sections.domains.exported,
  sso: sections.sso.exported,
  ldap: sections.ldap.exported,
  mappings: sections.mappings.exported,
  projects: sections.projects.exported,
  members: sections.members.exported,
  signin: sections.signin.exported,
  webhooks: sections.webhooks.exported,
  clients: sections.clients.exported,
} satisfies Record<SectionName, z.ZodType>;

/** The exported document. It has no secrets. Connections and clients omit default values. */
export const exportedDocument = z.object({
  $schema: z.string(),
  idctl: z.literal(documentVersion),
  ...exported,
  aboveCaps: z
    .array(z.object({ section: z.enum(sectionNames), entries: z.int(), most: z.int() }))
    .optional()
    .describe('The sections above a cap. Their entries stay, but none can be added.'),
});

/** The JSON Schema of the file that an admin writes. */
export function describeDocument() {
  const described = z.toJSONSchema(documentWith(sections.sso.inFile, sections.ldap.inFile), {
    io: 'input',
    unrepresentable: 'any',
  });
  return { ...described, title: 'An organization of idctl' };
}
