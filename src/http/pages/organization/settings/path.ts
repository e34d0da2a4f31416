/** The page with the settings of an organization. */
export const path = '/orgs/:org/settings';

/** Its address for an organization. */
export const pathOf = ({ org }: { org: string }) => `/orgs/${encodeURIComponent(org)}/settings`;
