import { z } from 'zod';
import { ref } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { documentOf } from './export.ts';
import { describeDocument, exportedDocument } from './schema.ts';
import { readState } from './state.ts';

// An organization as a document: exported, planned and applied.

/** Exports the organization as a document, without secrets. */
export const exportOrganization = operation({
  authority: 'document.see',
  input: z.strictObject({ org: ref }),
  output: exportedDocument,
  run: async (ctx, _input, { organization }) => ({
    $schema: `${ctx.config.baseUrl}/api/v1/organization.schema.json`,
    ...documentOf(await readState(ctx, organization)),
  }),
});

/** Describes the document as a JSON Schema. */
export const showDocumentSchema = operation({
  authority: 'public',
  input: z.strictObject({}),
  output: z.looseObject({ title: z.string() }),
  run: async () => describeDocument(),
});
