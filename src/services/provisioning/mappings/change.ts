import { z } from 'zod';
import { hold } from '../../../database/hold.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { id, ref } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { requireTarget } from './operations.ts';
import { planMapped } from './replan.ts';
import { mappingInput, mappingView, refuseMixed, roleOf, viewMapping } from './view.ts';
import { about, duplicateMapping, requireGrant, requireMapping, toldRole } from './write.ts';

const { group: _, ...target } = mappingInput;

/**
 * Replaces the role that a mapping gives; the mapping keeps its id and its group. Members of a SCIM
 * group change from one role to the other in one transaction, others at their next sign-in.
 */
export const changeMapping = operation({
  authority: 'mappings.change',
  input: z.strictObject({ org: ref, id, ...target }).superRefine(refuseMixed),
  output: mappingView,
  run: async (ctx, { org, id, ...target }, { organization }) => {
    await requireGrant(ctx, org, [target]);
    return transaction(async () => {
      await hold.mappings(organization.id, 'alone');
      const row = await requireMapping(organization, id);
      const from = toldRole(roleOf(row));
      const given = await requireTarget(organization, { ...target, group: row.group });
      const changed =
        'orgRole' in given
          ? { orgRole: given.orgRole, projectId: null, role: null }
          : { orgRole: null, projectId: given.project.id, role: given.role };
      const isSame = Object.entries(changed).every(([name, value]) => row.get(name) === value);
      const mapping = { id, ...given };
      if (isSame) return viewMapping(mapping);
      await refusingDuplicate(row.update(changed), duplicateMapping(organization, [given]));
      const { data, ...of } = about(organization, mapping);
      await recordEvent(ctx, { kind: 'mapping.changed', ...of, data: { ...data, from } });
      await planMapped(ctx, organization.id, [mapping]);
      return viewMapping(mapping);
    });
  },
});
