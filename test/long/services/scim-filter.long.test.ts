import '../../services/scim-filter.test.ts';
