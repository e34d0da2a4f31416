/** Slow steps of query plans that the test accepts, each with its reason. */
export const meantSteps: { sql: RegExp; step: RegExp; because: string }[] = [
  {
    sql: /FROM memberships m JOIN accounts a .* r\.id IS NULL/s,
    step: /./,
    because: 'it runs once, when an organization gets its first SCIM token',
  },
  {
    sql: /LEFT JOIN memberships m ON m.account_id = a.id/,
    step: /ORDER BY$/,
    because: 'it sorts the memberships of one account',
  },
  {
    sql: /WITH found|\) page|FROM .scim_records. AS .ScimRecord. .* IN \(/,
    step: /FOR ORDER BY/,
    because: 'it sorts at most one page',
  },
  {
    sql: /FROM events .*\) part UNION ALL /s,
    step: /FOR ORDER BY/,
    because: 'it sorts at most one page of each kind, or of both parts about a person',
  },
  {
    sql: /FROM .identities. AS .Identity. WHERE .*(account_id.|subject.) = /,
    step: /FOR ORDER BY/,
    because: 'it sorts the identities of one person',
  },
  {
    sql: /FROM .outbox. AS .OutboxItem. .* LIMIT 10/,
    step: /FOR LAST TERM OF ORDER BY/,
    because: 'it sorts the mails of one instant',
  },
  {
    sql: /SELECT count\(\*\) AS waiting/,
    step: /^SCAN (outbox|d) USING COVERING INDEX|^(Index Only|Seq) Scan/,
    because: 'it counts only the rows that wait to be sent',
  },
  {
    sql: /FROM webhooks w/,
    step: /FOR ORDER BY/,
    because: 'it sorts webhooks, and reads one message of each',
  },
  {
    sql: /m\.role = 'owner' AND \(m\.origin/,
    step: /^Seq Scan memberships/,
    because: 'it runs when a domain is verified or a connection changes, not at each request',
  },
  {
    sql: /FROM sso_connections c\s+JOIN identities i/,
    step: /USING COVERING INDEX memberships_owners$|FOR ORDER BY|^Seq Scan accounts/,
    because: 'it looks up the owners, here 201 of 20,001, and sorts those with a second factor',
  },
  {
    sql: /m\.role = 'owner' AND \(m\.organization_id, m\.account_id\) > /,
    step: /^Seq Scan (accounts|identities)/,
    because: 'it looks up a page of owners, here 201 of 20,001',
  },
  {
    sql: / AS found\s+FROM memberships m/,
    step: /^Seq Scan scim_records/,
    because: 'a search looks at 10,000 members at most, which is half of them here',
  },
  {
    sql: /ORDER BY random\(\)/,
    step: /./,
    because: 'it reads 20,000 ids once in ten minutes, however many there are',
  },
];
