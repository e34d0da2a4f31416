import { type Diagram, draw } from './draw.ts';

const concepts: Diagram = {
  size: [790, 430],
  about:
    'An account becomes a member of an organization. The organization has a verified domain, a connection to a provider or directory, projects and applications.',
  boxes: [
    { at: [10, 10], size: [600, 410], title: 'Instance (your idctl)', isFrame: true },
    { at: [220, 45], size: [375, 360], title: 'Organization', isFrame: true },
    {
      at: [25, 200],
      size: [130, 66],
      title: 'Account',
      lines: ['one person,', 'one e-mail address'],
    },
    {
      at: [240, 85],
      size: [140, 66],
      title: 'Domain',
      lines: ['acme.com,', 'verified in the DNS'],
    },
    {
      at: [435, 85],
      size: [140, 66],
      title: 'Connection',
      lines: ['to one provider', 'or directory'],
    },
    {
      at: [240, 200],
      size: [140, 66],
      title: 'Member',
      lines: ['with a role: owner,', 'admin or member'],
    },
    {
      at: [435, 200],
      size: [140, 66],
      title: 'Project',
      lines: ['some members,', 'with roles in it'],
    },
    {
      at: [435, 315],
      size: [140, 66],
      title: 'Application',
      lines: ['a client with', 'id and secret'],
    },
    {
      at: [655, 85],
      size: [125, 66],
      title: 'Provider',
      lines: ['Entra ID, Okta,', 'OpenLDAP'],
      isOutside: true,
    },
    {
      at: [655, 315],
      size: [125, 66],
      title: 'Program',
      lines: ['Grafana, GitLab,', 'your own'],
      isOutside: true,
    },
  ],
  arrows: [
    {
      through: [
        [155, 233],
        [240, 233],
      ],
      label: 'joins as',
      labelAt: [-10, -7],
    },
    {
      through: [
        [380, 118],
        [435, 118],
      ],
      label: 'uses',
      labelAt: [-2, -7],
    },
    {
      through: [
        [575, 118],
        [655, 118],
      ],
      label: 'asks',
      labelAt: [16, -7],
    },
    {
      through: [
        [380, 233],
        [435, 233],
      ],
      label: 'is in',
      labelAt: [-2, -7],
    },
    {
      through: [
        [310, 266],
        [310, 348],
        [435, 348],
      ],
      label: 'signs in to',
      labelAt: [0, -7],
    },
    {
      through: [
        [575, 348],
        [655, 348],
      ],
      label: 'is for',
      labelAt: [16, -7],
    },
    {
      through: [
        [505, 266],
        [505, 315],
      ],
      label: 'can limit',
      labelAt: [30, 4],
    },
  ],
};

const parts: Diagram = {
  size: [760, 330],
  about:
    'Browsers reach the idctl daemon through a proxy with TLS. Applications ask it by OpenID Connect. The daemon and the idctl command use one database and one key file. The daemon asks providers and directories, and sends mail.',
  boxes: [
    { at: [205, 10], size: [350, 310], title: 'Your server', isFrame: true },
    {
      at: [10, 55],
      size: [140, 60],
      title: 'Browsers',
      lines: ['people and admins'],
      isOutside: true,
    },
    {
      at: [10, 150],
      size: [140, 60],
      title: 'Applications',
      lines: ['Grafana, your own'],
      isOutside: true,
    },
    {
      at: [10, 245],
      size: [140, 60],
      title: 'Your directory',
      lines: ['sends people by SCIM'],
      isOutside: true,
    },
    { at: [225, 140], size: [90, 80], title: 'Proxy', lines: ['nginx or', 'Caddy: TLS'] },
    {
      at: [375, 55],
      size: [160, 165],
      title: 'idctl serve',
      lines: ['the daemon:', 'sign-in, OpenID', 'Connect, REST,', 'SCIM, pages'],
    },
    { at: [225, 255], size: [120, 52], title: 'idctl', lines: ['command line'] },
    { at: [395, 255], size: [140, 52], title: 'Database, key', lines: ['SQLite or PostgreSQL'] },
    {
      at: [610, 55],
      size: [140, 60],
      title: 'Providers',
      lines: ['Entra ID, Okta, …'],
      isOutside: true,
    },
    {
      at: [610, 150],
      size: [140, 60],
      title: 'Directories',
      lines: ['OpenLDAP, AD'],
      isOutside: true,
    },
    {
      at: [610, 245],
      size: [140, 60],
      title: 'Mail server',
      lines: ['if you have one'],
      isOutside: true,
    },
  ],
  arrows: [
    {
      through: [
        [150, 85],
        [190, 85],
        [190, 165],
        [225, 165],
      ],
    },
    {
      through: [
        [150, 180],
        [225, 180],
      ],
    },
    {
      through: [
        [150, 275],
        [190, 275],
        [190, 195],
        [225, 195],
      ],
    },
    {
      through: [
        [315, 180],
        [375, 180],
      ],
      label: 'HTTP',
      labelAt: [0, -7],
    },
    {
      through: [
        [455, 220],
        [455, 255],
      ],
    },
    {
      through: [
        [345, 281],
        [395, 281],
      ],
    },
    {
      through: [
        [535, 85],
        [610, 85],
      ],
    },
    {
      through: [
        [535, 180],
        [610, 180],
      ],
    },
    {
      through: [
        [535, 205],
        [580, 205],
        [580, 275],
        [610, 275],
      ],
    },
  ],
};

/** The pictures of the documentation that are drawn from code, by their file names. */
export const pictures = new Map([
  ['concepts.svg', draw(concepts)],
  ['parts.svg', draw(parts)],
]);
