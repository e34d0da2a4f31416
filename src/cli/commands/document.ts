import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { refuseField } from '../../errors.ts';
import { accessHint, fileFault } from '../../file-fault.ts';
import { org, verb } from '../command.ts';

/** Declares `idctl export`. */
export function addExportCommand(program: Command): void {
  verb(program, 'export', {
    summary: 'Print an organization as a YAML document, without secrets',
    required: org,
    options: { '-o, --output <file>': 'write it to this file' },
    example: 'idctl export --org acme -o acme.yaml',
    run: async (call) => {
      const { exportOrganization } = await import(
        '../../services/provisioning/document/operations.ts'
      );
      const { writeDocument } = await import('../document-file.ts');
      const { output, ...input } = call.input;
      const document = await call.operate(exportOrganization, input);
      const text = call.flags.json
        ? `${JSON.stringify(document)}\n`
        : await writeDocument(document);
      if (typeof output !== 'string') return call.print(text);
      await writeFile(output, text).catch((cause: unknown) => {
        throw refuseField(
          '--output',
          `${output} ${fileFault(cause, 'written')}`,
          accessHint(cause),
        );
      });
      call.note(`Written to ${output}.`);
    },
  });
}

/** Declares `idctl schema`. */
export function addSchemaCommand(program: Command): void {
  verb(program, 'schema', {
    summary: 'Print the JSON Schema of the document of an organization',
    example: 'idctl schema > organization.schema.json',
    run: async (call) => {
      const { describeDocument } = await import('../../services/provisioning/document/schema.ts');
      call.print(`${JSON.stringify(describeDocument(), null, 2)}\n`);
    },
  });
}
