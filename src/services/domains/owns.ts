import { Domain } from '../../database/models/domain.ts';
import { domainOf } from './canonical.ts';

/** The organization's verified domain of this name, or null (security I2: verified now, by this organization, exactly this name). */
export function findVerified(organizationId: string, name: string): Promise<Domain | null> {
  return Domain.findOne({ where: { organizationId, name, state: 'Verified' } });
}

/** Whether the organization has verified the domain of this canonical address. */
export async function ownsAddress(organizationId: string, email: string | null): Promise<boolean> {
  return email !== null && (await findVerified(organizationId, domainOf(email))) !== null;
}
