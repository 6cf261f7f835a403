package render

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"errorkb/internal/kb"
)

// pageSize is the number of rows on a page of a list or group.
const pageSize = kb.DefaultLimit

// Document makes the document at an address that needs no query, Base in
// front. It wraps kb.ErrNotFound for every address that Addresses does not
// list.
func (r *Renderer) Document(ctx context.Context, address string) (Document, error) {
	place, args, found := r.site.Base.Locate(address)
	if !found {
		return Document{}, fmt.Errorf("%w: address %q", kb.ErrNotFound, address)
	}
	switch place {
	case PlaceHome:
		return r.home(ctx)
	case PlaceErrors:
		return r.ErrorsPage(ctx, kb.Filter{})
	case PlaceErrorsPage:
		return r.further(args[0], func(offset int) (Document, error) {
			return r.ErrorsPage(ctx, kb.Filter{Offset: offset})
		})
	case PlaceErrorsRepo:
		return r.repoRedirect(ctx, args[0])
	case PlaceError:
		return r.errorPage(ctx, args[0], args[1])
	case PlaceErrorID:
		return r.redirect(ctx, args[0])
	case PlaceRepo, PlaceTag, PlaceBackground:
		return r.group(ctx, place, args[0], 0)
	case PlaceOwner:
		return r.owner(ctx, args[0])
	case PlaceRepos, PlaceTags, PlaceBackgrounds:
		return r.groups(ctx, place)
	case PlaceRepoPage, PlaceTagPage, PlaceBackgroundPage:
		return r.further(args[1], func(offset int) (Document, error) {
			return r.group(ctx, place-1, args[0], offset)
		})
	case PlaceDiagnose:
		return ok(ctx, DiagnosisPage(NewDiagnosisView(r.site, nil, nil, nil)))
	case PlaceSearch:
		return r.SearchPage(ctx, kb.Query{}, kb.SearchResult{})
	case PlaceProof:
		return r.proofPage(ctx)
	case PlaceSource:
		return r.sourcePage(ctx, args[0])
	case PlaceProblem:
		return r.problem(ctx, args[0])
	case PlaceNotFound:
		return r.notFound(ctx), nil
	}
	doc, found, err := r.jsonDocument(ctx, address)
	if err == nil && !found {
		err = fmt.Errorf("%w: address %q", kb.ErrNotFound, address)
	}
	return doc, err
}

// further opens a page after the first one. The first has its own address.
func (r *Renderer) further(number string, open func(offset int) (Document, error)) (Document, error) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 2 || n > 1<<20 || strconv.Itoa(n) != number {
		return Document{}, fmt.Errorf("%w: page %q", kb.ErrNotFound, number)
	}
	return open((n - 1) * pageSize)
}

// Addresses lists every address that Document answers, in a fixed order.
func (r *Renderer) Addresses(ctx context.Context) ([]string, error) {
	to := r.site.To
	all := []string{to(PlaceHome), to(PlaceDiagnose), to(PlaceSearch), to(PlaceNotFound)}
	items, err := r.items(ctx)
	if err != nil {
		return nil, err
	}
	all = append(all, pagesOf(len(items), to(PlaceErrors), func(n string) string { return to(PlaceErrorsPage, n) })...)
	for _, item := range items {
		all = append(all, to(PlaceError, item.Repo, item.Slug))
		aliases, err := r.redirects(ctx, item)
		if err != nil {
			return nil, err
		}
		all = append(all, aliases...)
	}
	for _, kind := range groupPlaces {
		all = append(all, to(kind.all))
		groups, err := r.src.Groups(ctx, kind.kind, kb.Filter{})
		if err != nil {
			return nil, fmt.Errorf("list groups by %s: %w", kind.kind, err)
		}
		if kind.place == PlaceRepo {
			all = append(all, r.shortened(ctx, groups)...)
		}
		for _, g := range groups {
			all = append(all, pagesOf(g.Count, to(kind.place, g.Name), func(n string) string { return to(kind.place+1, g.Name, n) })...)
		}
	}
	all = append(all, to(PlaceProof))
	for _, file := range r.proof.files {
		all = append(all, to(PlaceSource, file))
	}
	for _, p := range ProblemTypes() {
		all = append(all, to(PlaceProblem, p.Slug))
	}
	more, err := r.jsonAddresses(ctx)
	return append(all, more...), err
}

// pagesOf lists the address of the first page and of those after it.
func pagesOf(rows int, first string, further func(number string) string) []string {
	pages := []string{first}
	for n := 2; (n-1)*pageSize < rows; n++ {
		pages = append(pages, further(strconv.Itoa(n)))
	}
	return pages
}

// items lists every record, in the order of the list.
func (r *Renderer) items(ctx context.Context) ([]kb.Item, error) {
	var all []kb.Item
	filter := kb.Filter{Limit: kb.MaxLimit}
	for {
		part, err := r.src.List(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("list records: %w", err)
		}
		all = append(all, part.Items...)
		if part.Next == "" {
			return all, nil
		}
		filter.Cursor = part.Next
	}
}

// redirects lists the addresses by id and alias that lead to a record. An alias
// that several records share leads to one of them; only that one lists it.
func (r *Renderer) redirects(ctx context.Context, item kb.Item) ([]string, error) {
	record, err := r.src.Record(ctx, item.ID)
	if err != nil {
		return nil, fmt.Errorf("read record %q: %w", item.ID, err)
	}
	all := []string{r.site.To(PlaceErrorID, item.ID)}
	for _, alias := range record.Aliases {
		address := r.site.To(PlaceErrorID, alias)
		if id, err := r.src.Resolve(ctx, alias); err != nil || id != item.ID || !plainFileName(alias) {
			continue
		}
		all = append(all, address)
	}
	return all, nil
}

// plainFileName reports whether an alias can be a file of a static site on
// every file system. Other aliases are resolved by the server only.
func plainFileName(alias string) bool {
	for _, c := range alias {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return alias != "" && len(alias) <= 100 && alias != "page"
}

// shortened lists the addresses that are left when the end is taken off one of a record
// or a project: of owners, and of projects and owners below the records. An alias of a
// record goes before the owner of the same name.
func (r *Renderer) shortened(ctx context.Context, repos []kb.Group) []string {
	var all []string
	seen := map[string]bool{}
	for _, g := range repos {
		all = append(all, r.site.To(PlaceErrorsRepo, g.Name))
		owner, _, _ := strings.Cut(g.Name, "/")
		if seen[owner] {
			continue
		}
		seen[owner] = true
		all = append(all, r.site.To(PlaceOwner, owner))
		if _, err := r.src.Resolve(ctx, owner); errors.Is(err, kb.ErrNotFound) && plainFileName(owner) {
			all = append(all, r.site.To(PlaceErrorID, owner))
		}
	}
	return all
}

// repoRedirect leads from the place of a project's records to its page.
func (r *Renderer) repoRedirect(ctx context.Context, repo string) (Document, error) {
	owner, _, _ := strings.Cut(repo, "/")
	groups, err := r.reposOf(ctx, owner)
	if err != nil {
		return Document{}, err
	}
	if !slices.ContainsFunc(groups, func(g kb.Group) bool { return g.Name == repo }) {
		return Document{}, fmt.Errorf("%w: project %q", kb.ErrNotFound, repo)
	}
	return r.redirectTo(ctx, r.site.To(PlaceRepo, repo), visible(repo))
}

// redirect leads to the record with an id or alias, failing that to the projects of an
// owner.
func (r *Renderer) redirect(ctx context.Context, key string) (Document, error) {
	id, err := r.src.Resolve(ctx, key)
	if errors.Is(err, kb.ErrNotFound) {
		if _, err := r.reposOf(ctx, key); err == nil {
			return r.redirectTo(ctx, r.site.To(PlaceOwner, key), ownerHeading(key))
		}
	}
	if err != nil {
		return Document{}, fmt.Errorf("resolve %q: %w", key, err)
	}
	record, err := r.src.Record(ctx, id)
	if err != nil {
		return Document{}, fmt.Errorf("read record %q: %w", id, err)
	}
	return r.redirectTo(ctx, r.site.To(PlaceError, record.Repo, record.Slug), record.ErrorMessage)
}

func (r *Renderer) redirectTo(ctx context.Context, target, title string) (Document, error) {
	doc, err := page(ctx, http.StatusMovedPermanently, RedirectPage(RedirectView{
		Target: target, Canonical: r.site.Absolute(target), Title: title,
	}))
	doc.Location = target
	return doc, err
}

func (r *Renderer) errorPage(ctx context.Context, repo, slug string) (Document, error) {
	record, err := r.src.BySlug(ctx, repo, slug)
	if err != nil {
		return Document{}, fmt.Errorf("read record %q of %q: %w", slug, repo, err)
	}
	related, err := r.src.Related(ctx, record.ID)
	if err != nil {
		return Document{}, fmt.Errorf("relate record %q: %w", record.ID, err)
	}
	var successor *kb.Record
	if record.ReplacedBy != nil {
		// A successor that is gone is the linter's matter; the page then names none.
		successor, _ = r.src.Record(ctx, *record.ReplacedBy)
	}
	v := NewErrorView(r.site, record, related, successor)
	if v.Proof, v.Flow, err = r.proofOf(ctx, record); err != nil {
		return Document{}, err
	}
	v.Live = r.liveForm(record)
	v.markProven()
	return ok(ctx, ErrorPage(v))
}
