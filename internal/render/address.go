package render

import (
	"net/url"
	"strings"
)

// Place is what an address leads to.
type Place int

// The places of the site. Those with arguments take them in the order given.
const (
	PlaceHome           Place = iota
	PlaceErrors               // all records
	PlaceErrorsPage           // page number, from 2
	PlaceErrorsRepo           // owner/repo; redirects to PlaceRepo
	PlaceError                // owner/repo, slug
	PlaceErrorID              // id or alias, else owner; redirects
	PlaceRepo                 // owner/repo
	PlaceRepoPage             // owner/repo, page number from 2
	PlaceOwner                // owner of repositories
	PlaceTag                  // tag
	PlaceTagPage              // tag, page number from 2
	PlaceBackground           // background tag
	PlaceBackgroundPage       // background tag, page number from 2
	PlaceRepos                // all repositories
	PlaceTags                 // all tags
	PlaceBackgrounds          // all background tags
	PlaceDiagnose
	PlaceSearch
	PlaceProof     // what proves the records, as a whole
	PlaceSource    // file of the runtime, slash-separated
	PlaceProblem   // problem type
	PlaceNotFound  // the page of a static site for an address without a file
	PlaceDiagnosis // of a static site: what its pages load to diagnose by themselves
	PlaceAPIError
	PlaceAPIProve // record id; takes POST
	PlaceAPIErrors
	PlaceAPISearch
	PlaceAPIDiagnose
	PlaceAPIDataset
	PlaceAPIDatasetLines
	PlaceAPIModified
	PlaceAPISchema
	PlaceAPIOpenAPI
	PlaceFeed
	PlaceSitemap
	PlaceRobots
	PlaceLLMs
	PlaceOpenSearch
	PlaceHealth  // operations: the process lives
	PlaceReady   // operations: it can answer
	PlaceVersion // operations: what is running
	PlaceMetrics // operations: counters
	PlaceAsset   // file name below web/static

	placeCount
)

// addresses gives each place its shape: {} is one segment, {repo} the two of
// an owner/name pair, {path} all that are left.
var addresses = [placeCount]string{
	PlaceHome:            "/",
	PlaceErrors:          "/errors/",
	PlaceErrorsPage:      "/errors/page/{}/",
	PlaceErrorsRepo:      "/errors/{repo}/",
	PlaceError:           "/errors/{repo}/{}/",
	PlaceErrorID:         "/errors/{}",
	PlaceRepo:            "/repos/{repo}/",
	PlaceRepoPage:        "/repos/{repo}/page/{}/",
	PlaceOwner:           "/repos/{}/",
	PlaceTag:             "/tags/{}/",
	PlaceTagPage:         "/tags/{}/page/{}/",
	PlaceBackground:      "/backgrounds/{}/",
	PlaceBackgroundPage:  "/backgrounds/{}/page/{}/",
	PlaceRepos:           "/repos/",
	PlaceTags:            "/tags/",
	PlaceBackgrounds:     "/backgrounds/",
	PlaceDiagnose:        "/diagnose",
	PlaceSearch:          "/search",
	PlaceProof:           "/proof/",
	PlaceSource:          "/source/{path}",
	PlaceProblem:         "/problems/{}/",
	PlaceNotFound:        "/404.html",
	PlaceDiagnosis:       "/diagnosis.json",
	PlaceAPIError:        "/api/errors/{}",
	PlaceAPIProve:        "/api/errors/{}/prove",
	PlaceAPIErrors:       "/api/errors",
	PlaceAPISearch:       "/api/search",
	PlaceAPIDiagnose:     "/api/diagnose",
	PlaceAPIDataset:      "/api/dataset",
	PlaceAPIDatasetLines: "/api/dataset.jsonl",
	PlaceAPIModified:     "/api/modified.json",
	PlaceAPISchema:       "/api/schema/record.json",
	PlaceAPIOpenAPI:      "/api/openapi.json",
	PlaceFeed:            "/feed.xml",
	PlaceSitemap:         "/sitemap.xml",
	PlaceRobots:          "/robots.txt",
	PlaceLLMs:            "/llms.txt",
	PlaceOpenSearch:      "/opensearch.xml",
	PlaceHealth:          "/healthz",
	PlaceReady:           "/readyz",
	PlaceVersion:         "/version",
	PlaceMetrics:         "/metrics",
	PlaceAsset:           "/assets/{}",
}

// Base is the path that the site lives under: "" at the root of a host,
// "/kb" for https://host/kb/.
type Base string

// Address computes the address of a place. It is the one function that does:
// routes, links and file names use it. Each argument is escaped, the slash of
// an owner/repo pair and those of a path stay.
func (b Base) Address(place Place, args ...string) string {
	var out strings.Builder
	out.WriteString(string(b))
	shape := addresses[place]
	for {
		head, tail, found := strings.Cut(shape, "{")
		out.WriteString(head)
		if !found || len(args) == 0 {
			return out.String()
		}
		kind, rest, _ := strings.Cut(tail, "}")
		segments := 1
		switch kind {
		case "repo":
			segments = 2
		case "path":
			segments = -1
		}
		for i, segment := range strings.SplitN(args[0], "/", segments) {
			if i > 0 {
				out.WriteByte('/')
			}
			out.WriteString(url.PathEscape(segment))
		}
		args, shape = args[1:], rest
	}
}

// Locate is the inverse of Address: the place and the arguments of an address
// without query. It reports false for every address that Address would not
// give out, other spellings of the same address included.
func (b Base) Locate(address string) (Place, []string, bool) {
	path, ok := strings.CutPrefix(address, string(b))
	if !ok {
		return 0, nil, false
	}
	for place := range placeCount {
		args, ok := matchShape(addresses[place], path)
		if ok && b.Address(place, args...) == address {
			return place, args, true
		}
	}
	return 0, nil, false
}

func matchShape(shape, path string) ([]string, bool) {
	var args []string
	want := strings.Split(shape, "/")
	have := strings.Split(path, "/")
	for _, w := range want {
		switch {
		case len(have) == 0:
			return nil, false
		case w == "{repo}":
			if len(have) < 2 {
				return nil, false
			}
			owner, name, ok := unescapeTwo(have[0], have[1])
			if !ok {
				return nil, false
			}
			args = append(args, owner+"/"+name)
			have = have[2:]
			continue
		case w == "{path}":
			path := make([]string, len(have))
			for i := range have {
				var ok bool
				if path[i], _, ok = unescapeTwo(have[i], "x"); !ok {
					return nil, false
				}
			}
			return append(args, strings.Join(path, "/")), true
		case w == "{}":
			arg, _, ok := unescapeTwo(have[0], "x")
			if !ok {
				return nil, false
			}
			args = append(args, arg)
		case w != have[0]:
			return nil, false
		}
		have = have[1:]
	}
	return args, len(have) == 0
}

func unescapeTwo(a, b string) (string, string, bool) {
	a, errA := url.PathUnescape(a)
	b, errB := url.PathUnescape(b)
	return a, b, errA == nil && errB == nil && a != "" && b != ""
}
